"""Test sources that are the text of a stage."""

import pytest
from broken_texts import BROKEN_TEXTS

from explorer.examples import find_example
from explorer.model import Edits, Event, Request
from explorer.model.source_language import source_language
from explorer.pipeline.job import perform
from explorer.pipeline.stages import STAGES

pytestmark = pytest.mark.usefixtures("private_cache")
SOURCE = find_example("vector_add").source


def compiled(source, target="cuda:90", **fields):
    """Return the events of a compilation, by kind."""
    events: list[Event] = []
    perform(Request(source, target, "", **fields), events.append)
    return {kind: [event for event in events if event.kind == kind] for kind in {e.kind for e in events}}


@pytest.fixture(scope="module")
def texts(private_cache):
    return {stage.name: stage.text for stage in compiled(SOURCE)["stage"]}


def error_of(events):
    (error,) = [each for each in events["diagnostic"] if each.severity == "error"]
    return error


@pytest.mark.parametrize(
    ("example", "target"), [("softmax", "cuda:90"), ("softmax", "hip:gfx942"), ("gluon_copy", "cuda:90")]
)
def test_the_text_of_a_stage_gives_the_same_machine_code(gallery, example, target):
    captured = gallery(example, target)
    stages = [kind.name for kind in STAGES if kind.kernel and kind.name in captured.stages]
    assert len(stages) >= 4
    for stage in stages:
        again = gallery(example, target, stage, "source")
        assert [event.message for event in again.of("diagnostic") if event.severity == "error"] == []
        # The Gluon IR of a kernel that names all its layouts is TTGIR.
        assert next(iter(again.stages)) == ("ttgir" if stage == "glir" else stage)
        if stage in ("llir", "ptx", "amdgcn"):
            assert [each.data for each in again.of("binary")] == [
                each.data for each in captured.of("binary")
            ], stage
        else:  # The line information of the binary has the lines of the text.
            last = list(captured.stages)[-1]
            assert again.stages[last].text == captured.stages[last].text, stage
        (resources,), (original,) = again.of("resources"), captured.of("resources")
        assert (resources.registers, resources.warps) == (original.registers, original.warps)


@pytest.mark.slow
def test_instructions_link_to_the_lines_of_the_source(texts):
    text = texts["ttgir"]
    line = next(number for number, line in enumerate(text.splitlines(), 1) if "arith.addf" in line)
    stages = {stage.name: stage for stage in compiled(text)["stage"]}
    for name, word in (("ttgir", "arith.addf"), ("llir", "fadd"), ("ptx", "add.f32"), ("sass", "FADD")):
        stage = stages[name]
        at = next(number for number, each in enumerate(stage.text.splitlines()) if word in each)
        (location,) = [stage.locations[index] for index in stage.line_locations[at]]
        assert [(frame.file, frame.line) for frame in location.frames] == [("", line)], name


@pytest.mark.parametrize(("stage", "before", "after", "message"), BROKEN_TEXTS)
def test_an_error_is_at_its_line_of_the_source(texts, stage, before, after, message):
    text = texts[stage]
    error = error_of(compiled(text.replace(before, after, 1)))
    assert message in error.message
    assert error.line == text[: text.index(before)].count("\n") + 1


@pytest.mark.parametrize(
    ("stage", "target", "place", "message", "hint"),
    [
        ("ttgir", "cuda:80", "ttg.target", "The text is for cuda:90, not for cuda:80.", "cuda:90"),
        ("llir", "hip:gfx942", "ptx_kernel", "The text is for ptx_kernel, not for hip:gfx942.", "cuda:80"),
        ("ptx", "cuda:100", ".target", "The text is for sm_90, not for cuda:100.", "cuda:90"),
    ],
)
def test_another_target_is_refused_at_the_line_that_names_it(texts, stage, target, place, message, hint):
    error = error_of(compiled(texts[stage], target))
    assert error.message == message
    assert hint in error.hint
    assert place in texts[stage].splitlines()[error.line - 1]


def test_options_give_what_the_text_lacks_and_change_nothing_else(texts):
    (resources,) = compiled(texts["ttir"], options={"num_warps": 8})["resources"]
    assert resources.warps == 8
    error = error_of(compiled(texts["ptx"], options={"num_warps": 8}))
    assert error.message == "The option num_warps is 8, but the text is for 4."


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("module {\n garbage\n}\n", "The text of the TTIR has no kernel."),
        ("module {\n tt.func public @f() {\n", "expected"),
        (".version 8.0\n.target sm_90\n\0", "The text of the PTX has no kernel."),
        ("// x\n.version 8.0\n.target sm_90\n.visible .entry f(\n", "Parsing error"),
    ],
)
def test_a_text_that_is_no_stage_is_refused(source, message):
    assert message in error_of(compiled(source)).message


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kernel": "other"}, "The source has no kernel 'other'. It has 'add_kernel'."),
        ({"arguments": "*fp16"}, "The PTX of a kernel has no launch and no arguments to choose."),
        ({"edits": Edits("sass", "x")}, "A source in PTX cannot have an edited stage."),
    ],
)
def test_what_a_text_does_not_have_is_refused(texts, fields, message):
    assert error_of(compiled(texts["ptx"], **fields)).message == message


def test_the_language_is_recognized_by_the_first_lines(texts):
    assert {name: source_language(text) for name, text in texts.items() if name not in ("ast", "sass")} == {
        name: name for name in ("ttir", "ttgir", "llir", "ptx")
    }
    for python in ("", "module = 1", "# #blocked = 1\nmodule = {}", 'source_filename = "x"\nx = 1', SOURCE):
        assert source_language(python) == "python"
