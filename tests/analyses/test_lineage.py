"""The line of an operation through the passes, on a real matmul."""

import json

import pytest

from explorer.analyses import lineage
from explorer.errors import InvalidRequest


@pytest.fixture(scope="module")
def matmul(compile_example):
    return compile_example("matmul")


@pytest.fixture
def follow(analyst, matmul):
    def follow(index, line):
        return json.loads(analyst.answer(lineage.ANALYSIS, matmul, {"pass": str(index), "line": str(line)}))

    return follow


def passes(record, name):
    return [index for index, entry in sorted(record.result.passes.items()) if entry.name == name]


def line_of(record, index, operation):
    lines = record.text_after_pass(index).split("\n")
    return next(number for number, line in enumerate(lines, 1) if operation in line)


def test_a_dot_becomes_a_warp_group_dot(matmul, follow):
    document = follow(0, line_of(matmul, 0, "tt.dot"))
    steps = {step["index"]: step for step in document["steps"]}
    (accelerate,) = passes(matmul, "tritongpu-accelerate-matmul")
    assert "ttng.warp_group_dot" in steps[accelerate]["text"]
    assert steps[accelerate]["how"] == "rewritten"
    assert document["made_by"] == 0
    assert matmul.compiler_pass(document["removed_by"]).name == "convert-triton-gpu-to-llvm"


def test_it_is_the_same_line_whichever_step_is_asked(matmul, follow):
    (accelerate,) = passes(matmul, "tritongpu-accelerate-matmul")
    asked_late = follow(accelerate, line_of(matmul, accelerate, "ttng.warp_group_dot"))
    asked_early = follow(0, line_of(matmul, 0, "tt.dot"))
    shown = [[(step["index"], step["line"]) for step in each["steps"]] for each in (asked_late, asked_early)]
    assert shown[0] == shown[1]
    assert asked_late["steps"][asked_late["asked"]]["index"] == accelerate


def test_what_a_pass_makes_begins_there(matmul, follow):
    (accelerate,) = passes(matmul, "tritongpu-accelerate-matmul")
    document = follow(accelerate, line_of(matmul, accelerate, "ttg.local_alloc"))
    assert document["made_by"] == accelerate
    assert document["steps"][0]["how"] is None


def test_every_step_has_the_text_of_its_line(matmul, follow):
    document = follow(0, line_of(matmul, 0, "tt.store"))
    assert len(document["steps"]) > 5
    for step in document["steps"]:
        lines = matmul.text_after_pass(step["index"]).split("\n")
        assert lines[step["line"] - 1].strip() == step["text"]
        assert "tt.store" in step["text"]


@pytest.mark.parametrize("line", ["0", "999999", "x", ""])
def test_a_line_that_is_not_there_is_refused(analyst, matmul, line):
    with pytest.raises(InvalidRequest):
        analyst.answer(lineage.ANALYSIS, matmul, {"pass": "0", "line": line})
