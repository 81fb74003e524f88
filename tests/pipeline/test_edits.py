"""Test changes in the course of a compilation: edited stages, passes left out, options of passes."""

import pytest
from broken_texts import BROKEN_TEXTS

from explorer.examples import find_example
from explorer.model import Edits, Event, Request
from explorer.pipeline.job import perform

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("private_cache")]
SOURCE = find_example("vector_add").source


def compiled(**edits):
    """Return the events of a compilation, by kind."""
    events: list[Event] = []
    perform(Request(SOURCE, "cuda:90", "", edits=Edits(**edits) if edits else None), events.append)
    return {kind: [event for event in events if event.kind == kind] for kind in {e.kind for e in events}}


@pytest.fixture(scope="module")
def texts(private_cache):
    return {stage.name: stage.text for stage in compiled()["stage"]}


def errors(events):
    return [each for each in events["diagnostic"] if each.severity == "error"]


def test_the_later_stages_are_made_from_the_edited_text(texts):
    edited = texts["ttir"].replace("arith.addf", "arith.mulf")
    events = compiled(stage="ttir", text=edited)
    stages = {stage.name: stage for stage in events["stage"]}
    assert errors(events) == []
    assert stages["ttir"].text == edited
    assert "arith.mulf" in stages["ttgir"].text
    assert "mul.f32" in stages["ptx"].text
    assert "FMUL" in stages["sass"].text
    assert "Edited by hand" in [each.title for each in events["pass"]]


@pytest.mark.parametrize(
    ("stage", "before", "after"),
    [("ttgir", '"ttg.num-warps" = 4', '"ttg.num-warps" = 8'), ("ptx", ".reqntid 128", ".reqntid 256")],
)
def test_the_number_of_warps_is_that_of_the_edited_text(texts, stage, before, after):
    assert before in texts[stage]
    layouts = texts[stage].replace("warpsPerCTA = [4]", "warpsPerCTA = [8]")
    events = compiled(stage=stage, text=layouts.replace(before, after))
    (resources,) = events["resources"]
    assert (resources.warps, resources.threads) == (8, 256)


def test_new_lines_have_no_location_and_the_others_keep_theirs(texts):
    lines = texts["ttir"].splitlines()
    at = next(number for number, line in enumerate(lines) if "tt.make_range" in line)
    lines.insert(at, "    %extra = arith.constant 7 : i32")
    events = compiled(stage="ttir", text="\n".join(lines))
    stage = next(each for each in events["stage"] if each.name == "ttir")
    assert errors(events) == []
    assert stage.line_locations[at] == ()
    assert stage.line_locations[at + 1] != ()


@pytest.mark.parametrize(("stage", "before", "after", "message"), BROKEN_TEXTS)
def test_an_error_in_the_text_is_at_its_line(texts, stage, before, after, message):
    text = texts[stage]
    assert before in text
    line = text[: text.index(before)].count("\n") + 1
    (error,) = errors(compiled(stage=stage, text=text.replace(before, after, 1)))
    assert message in error.message
    assert (error.stage, error.stage_line) == (stage, line)


@pytest.mark.parametrize(
    ("stage", "text", "message"),
    [
        ("ttir", "garbage", "The text of the TTIR has no kernel."),
        ("llir", "\0", "The text of the LLVM IR has no kernel."),
        ("sass", "x", "The stage 'sass' cannot be compiled from its text."),
        ("amdgcn", ".amdhsa_kernel x", "This compilation has no stage 'amdgcn', so it cannot be edited."),
    ],
)
def test_a_text_that_is_no_stage_is_refused(stage, text, message):
    assert [error.message for error in errors(compiled(stage=stage, text=text))] == [message]


def test_a_pass_is_left_out_and_another_has_another_option():
    events = compiled(
        without_passes=("tritongpu-coalesce", "canonicalize#2", "tritongpu-coalesc"),
        pass_options={"tritongpu-pipeline": {"num-stages": "5"}},
    )
    passes = events["pass"]
    assert errors(events) == []
    left_out = [each.name for each in passes if each.title.endswith("(left out)")]
    assert left_out == ["tritongpu-coalesce", "canonicalize"]
    assert next(each for each in passes if each.name == "tritongpu-coalesce").text is None
    assert "num-stages=5" in next(each.options for each in passes if each.name == "tritongpu-pipeline")
    warning = next(each for each in events["diagnostic"] if each.severity == "warning")
    assert warning.message == "No pass 'tritongpu-coalesc' ran. Its edit has no effect."
    assert warning.hint == "Did you mean 'tritongpu-coalesce'?"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": 5}, "The option 'depth' of the pass tritongpu-pipeline cannot be set."),
        ({"num-stages": "many"}, "tritongpu-pipeline: num-stages must be a whole number, got 'many'."),
    ],
)
def test_an_option_that_cannot_be_set_is_refused(options, message):
    events = compiled(pass_options={"tritongpu-pipeline": options})
    assert [error.message for error in errors(events)] == [message]
