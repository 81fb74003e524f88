"""The workbench as a widget of a notebook, whose selection is a trait: read it, observe it, or set it.

In: the frame with the saved page, and the lines of each stage. Out: a widget of the package anywidget, which
is imported when a widget is made. Its front end is `explorer/static/notebook/widget.js`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Protocol

import msgspec

from explorer.errors import InvalidRequest

_FRONT_END = Path(__file__).parents[1] / "static/notebook/widget.js"

Line = Annotated[int, msgspec.Meta(ge=1)]


class Selection(msgspec.Struct, forbid_unknown_fields=True):
    """The selection in the workbench. Lines count from 1.

    `stage` and `line` name a line of a stage; both are None if none is selected, or only source lines are.
    `source_lines` are the pinned source lines, by their numbers in the documents of the API. None pins the
    lines from which the line of the stage comes.
    """

    stage: str | None = None
    line: Line | None = None
    source_lines: list[Line] | None = None


class WorkbenchWidget(Protocol):
    """The interface of the widget for programs, in addition to the interface of every widget of ipywidgets.

    `selection` has the fields of `Selection`. It follows the page, and the page follows it.
    """

    selection: dict[str, Any]

    def observe(self, handler: Any, names: Any = ..., type: str = ...) -> None:  # noqa: A002  of traitlets
        """Call `handler` after each change of the traits with these names."""


def make_widget(frame: str, lines: Mapping[str, int]) -> WorkbenchWidget:
    """Return a widget that shows a frame. `lines` are the numbers of lines of the stages, by name.

    Raises:
        InvalidRequest: the package anywidget is missing.
    """
    try:
        anywidget, traitlets = import_module("anywidget"), import_module("traitlets")
    except ModuleNotFoundError as error:
        raise InvalidRequest(
            f"The package {error.name} is missing. Install triton-explorer[notebook], then try again."
        ) from error
    widget: WorkbenchWidget = _widget_class(anywidget, traitlets)(frame, lines)
    return widget


def read_selection(value: Any, lines: Mapping[str, int]) -> dict[str, Any]:
    """Return a selection with all of its fields. `lines` are the numbers of lines of the stages.

    Raises:
        InvalidRequest: the value is not a selection of this result.
    """
    try:
        selection = msgspec.convert(value, Selection)
    except msgspec.ValidationError as error:
        raise InvalidRequest(f"The selection {value!r} is refused: {error}.") from error
    stage, line = selection.stage, selection.line
    if (stage is None) != (line is None):
        raise InvalidRequest(f"The selection {value!r} must have both a stage and a line, or neither.")
    if stage is not None and stage not in lines:
        raise InvalidRequest(f"The compilation has no stage {stage!r}. It has {', '.join(lines)}.")
    if stage is not None and line is not None and line > lines[stage]:
        raise InvalidRequest(f"The stage {stage} has {lines[stage]} lines, got line {line}.")
    if stage is None and selection.source_lines is None:
        selection.source_lines = []
    fields: dict[str, Any] = msgspec.to_builtins(selection)
    return fields


@cache
def _widget_class(anywidget: Any, traitlets: Any) -> Any:
    class Widget(anywidget.AnyWidget):  # type: ignore[misc]  # the package may be missing
        _esm = _FRONT_END.read_text(encoding="utf-8")
        frame = traitlets.Unicode().tag(sync=True)
        selection = traitlets.Dict().tag(sync=True)

        def __init__(self, frame: str, lines: Mapping[str, int]) -> None:
            self._lines = lines
            super().__init__(frame=frame, selection={})

        def _read(self, proposal: Any) -> dict[str, Any]:
            try:
                return read_selection(proposal["value"], self._lines)
            except InvalidRequest as error:
                # After another error, ipywidgets would keep the value that the page has sent.
                raise traitlets.TraitError(str(error)) from error

        _read_selection = traitlets.validate("selection")(_read)

    Widget.__name__ = Widget.__qualname__ = "WorkbenchWidget"
    return Widget
