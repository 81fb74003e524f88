"""Test the layouts of the gallery against the compiler and against a brute-force count."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from gallery_cases import REPRESENTATIVES

from explorer.analysis.layouts.conversion import movement
from explorer.analysis.layouts.linear_layout import LinearLayout
from explorer.analysis.memory.bank_conflicts import shared_access
from explorer.examples import EXAMPLES

REASONS = ("linear layouts of registers and shared memory only", "only the layout of a single buffer")


#: On Ampere, matrix instructions read all operands from registers: operands in shared memory are loaded.
FEW = (
    *(f"{example}@cuda:80" for example in ("matmul", "flash_attention", "convolution_2d")),
    *(f"matmul@{target}" for target in REPRESENTATIVES),
    "softmax@cuda:90",
)
ALL = tuple(f"{example}@{target}" for example in EXAMPLES for target in ("cuda:80", *REPRESENTATIVES))


@pytest.fixture(
    scope="session",
    params=[pytest.param(FEW, id="few"), pytest.param(ALL, id="all", marks=pytest.mark.nightly)],
)
def survey(request, gallery):
    modules = request.param
    for module in modules:
        gallery(*module.split("@"))
    script = Path(__file__).with_name("survey_layouts.py")
    done = subprocess.run(
        [sys.executable, str(script), str(gallery.folder), *modules],
        env=gallery.environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads((gallery.folder / "layouts.json").read_text())


def share(survey, number):
    """Return the share of a number of all modules that the surveyed modules have."""
    return number * len(survey["surveys"]) // len(ALL)


def operations(survey, *names):
    """Return the operations with these names, each with its module's layouts."""
    for module, found in survey["surveys"].items():
        for operation in found["operations"]:
            if operation["name"] in names:
                yield module, operation, found["layouts"]


def linear(layout):
    bases = layout["bases"]
    return LinearLayout(
        tuple((each["name"], tuple(map(tuple, each["bases"]))) for each in bases["inputs"]),
        tuple(bases["shape"]),
    )


def operand(operation, layouts, memory):
    for each in (*operation["operands"], *operation["results"]):
        if each["layout"] is not None and layouts[each["layout"]]["memory"] == memory:
            return layouts[each["layout"]]
    return None


@pytest.mark.nightly
def test_our_algebra_agrees_with_the_compilers_at_every_place(survey):
    assert survey["checked"] > share(survey, 100)
    assert survey["wrong"] == []


def test_every_layout_has_bases_or_a_reason(survey):
    for module, found in survey["surveys"].items():
        assert found["axis_refusal"] == "", module
        for layout in found["layouts"]:
            assert layout["bases"] or any(reason in layout["reason"] for reason in REASONS), (module, layout)


def test_every_value_has_a_name_and_a_line(survey):
    for module, found in survey["surveys"].items():
        for layout in found["layouts"]:
            assert layout["values"], (module, layout["label"])
            assert all(value["name"].startswith("%") and value["line"] for value in layout["values"])


def test_conflicts_are_those_that_counting_lane_by_lane_finds(survey):
    counted = 0
    for module, operation, layouts in operations(
        survey, "ttg.local_load", "ttg.local_store", "ttg.local_alloc"
    ):
        registers, shared = (operand(operation, layouts, memory) for memory in ("registers", "shared"))
        if operation["bank_conflicts"] is None or registers["shape"] != shared["bases"]["shape"]:
            continue
        padding = [(each["interval"], each["padding"]) for each in shared["bases"]["padding"]]
        access = shared_access(linear(registers), linear(shared), registers["element_bits"], padding)
        assert access.conflicts == operation["bank_conflicts"], (module, operation["text"])
        counted += 1
    assert counted > share(survey, 10)


def test_conflicts_of_layouts_that_nobody_chose_for_speed(survey):
    """The compiler's own count, for each pair of several layouts of registers and of shared memory."""
    counts = survey["conflicts"]
    assert [each for each in counts if each["compilers"] != each["ours"]] == []
    assert len(counts) > 50
    assert len({each["ours"] for each in counts}) > 3


def test_conversions_that_the_compiler_calls_trivial_move_nothing(survey):
    trivial = 0
    for module, operation, layouts in operations(survey, "ttg.convert_layout"):
        source, result = (
            linear(layouts[each["layout"]]) for each in (operation["operands"][0], operation["results"][0])
        )
        assert (movement(source, result) == "nothing") == operation["is_trivial"], (module, operation["text"])
        trivial += operation["is_trivial"]
    assert trivial > 0


def test_conversions_that_must_leave_the_warp_have_a_scratch_buffer(survey, gallery):
    compared = 0
    for module, found in survey["surveys"].items():
        example, target = module.split("@")
        buffers = [buffer for each in gallery(example, target).of("allocation") for buffer in each.buffers]
        scratch = sum(buffer.use == "scratch" and "ttg.convert_layout" in buffer.owner for buffer in buffers)
        moves = [
            movement(*(linear(found["layouts"][each["layout"]]) for each in ends))
            for operation in found["operations"]
            if operation["name"] == "ttg.convert_layout"
            for ends in [(operation["operands"][0], operation["results"][0])]
        ]
        assert moves.count("shared memory") == scratch, module
        compared += scratch
    assert compared > share(survey, 10)
