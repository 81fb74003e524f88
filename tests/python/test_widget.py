"""Test the widget's Python side: the selections that it accepts, and its error without anywidget."""

import sys

import pytest
import traitlets

import explorer
from explorer.errors import InvalidRequest
from explorer.python.widget import make_widget, read_selection

LINES = {"ttgir": 40, "sass": 200}
SCALE = """import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)
"""


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ({}, {"stage": None, "line": None, "source_lines": []}),
        ({"source_lines": [3, 9]}, {"stage": None, "line": None, "source_lines": [3, 9]}),
        ({"stage": "sass", "line": 200}, {"stage": "sass", "line": 200, "source_lines": None}),
        (
            {"stage": "ttgir", "line": 1, "source_lines": []},
            {"stage": "ttgir", "line": 1, "source_lines": []},
        ),
    ],
)
def test_a_selection_gets_all_of_its_fields(given, taken):
    assert read_selection(given, LINES) == taken


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"stage": "ptx", "line": 1}, r"has no stage 'ptx'\. It has ttgir, sass\."),
        ({"stage": "ttgir", "line": 41}, r"The stage ttgir has 40 lines, got line 41\."),
        ({"stage": "ttgir"}, "both a stage and a line"),
        ({"line": 3}, "both a stage and a line"),
        ({"stage": "ttgir", "line": 0}, r">= 1 - at `\$\.line`"),
        ({"source_lines": ["<script>"]}, r"`\$\.source_lines\[0\]`"),
        ({"stages": "ttgir"}, "unknown field `stages`"),
        ([], "is refused"),
    ],
)
def test_what_is_no_selection_is_refused(given, message):
    with pytest.raises(InvalidRequest, match=message):
        read_selection(given, LINES)


def test_a_missing_package_is_named_with_what_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(InvalidRequest) as error:
        make_widget("<iframe></iframe>", LINES)
    assert (
        str(error.value)
        == "The package anywidget is missing. Install triton-explorer[notebook], then try again."
    )


@pytest.mark.slow
def test_the_widget_has_the_frame_and_refuses_what_is_no_selection(asks):
    widget = explorer.compile(SCALE, "*fp32:16, 128", name="scale").widget(height=400)
    state = widget.get_state()  # type: ignore[attr-defined]  # of ipywidgets
    assert "height: 400px" in state["frame"]
    assert "export default" in state["_esm"]
    widget.selection = {"stage": "ttgir", "line": 2}
    with pytest.raises(traitlets.TraitError, match="got line 20000"):
        widget.selection = {"stage": "ttgir", "line": 20_000}
    # Messages of the page are read in the same way.
    with pytest.raises(traitlets.TraitError, match="has no stage"):
        widget.set_state({"selection": {"stage": "forged", "line": 1}})  # type: ignore[attr-defined]
    assert widget.selection == {"stage": "ttgir", "line": 2, "source_lines": None}
