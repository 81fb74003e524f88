"""Test the query `lineage`: the origins of operations, their results in later passes, and their
instructions."""

import json
import re
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from sources import SQUARE
from tritons import TRITONS

from explorer.errors import InvalidRequest, NotAnswerable
from explorer.queries import lineage
from explorer.queries.query import Subject
from explorer.services import services_of

ATTENTION = (Path(__file__).parents[1] / "kernels/attention_backward.py").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def matmul(compile_example):
    return compile_example("matmul")


@pytest.fixture
def follow(query_service):
    """Return the lineage of the operation in a line of a stage or of the module after a pass."""

    def follow(record, line, **parameters):
        given = {name: str(value) for name, value in {**parameters, "line": line}.items()}
        return json.loads(query_service.answer(lineage.QUERY, (record,), given))

    return follow


def passes(record, name):
    return [index for index, entry in sorted(record.result.passes.items()) if entry.name == name]


def lines_of(text, operation):
    return [number for number, line in enumerate(text.split("\n"), 1) if re.search(rf"\b{operation}\b", line)]


def count(record, index, operation):
    """How often an operation is in the snapshot after a pass."""
    return len(lines_of(record.text_after_pass(index), operation))


def ttgir(record):
    return record.text(record.stage("ttgir").text)


def made(record, document):
    """The pass that made the operation, and the names of the operations that it was made from."""
    name = record.compiler_pass(document["made_by"]).name
    return name, {row["operation"] for row in document["made_from"]}


def source_of(record, document):
    lines = record.request.source.split("\n")
    return [lines[number - 1].strip() for number in document["source_lines"]]


#: The operation, the source line that it leads back to, the pass that made it, and what from. Read off the
#: locations of a compilation by hand: the passes write these operations in no other way.
ATTENTION_ORIGINS = [
    (r"ttg\.convert_layout %ds", "ds = ", "convert-triton-to-tritongpu", "arith.truncf"),
    (r"ttg\.convert_layout %\d", "tl.store(gradient", "tritongpu-coalesce", "tt.store"),
    (r"%q_\d+ = ttg\.local_alloc", "q = tl.load", "tritongpu-accelerate-matmul", "tt.load"),
    (r"%k_\d+ = ttg\.async_copy_global_to_local", "k = tl.load", "tritongpu-pipeline", "tt.load"),
    (r"%v_\d+ = ttg\.async_copy_global_to_local", "v = tl.load", "tritongpu-pipeline", "tt.load"),
    (r"%scores_\d+ = ttng\.warp_group_dot ", "scores = ", "tritongpu-accelerate-matmul", "tt.dot"),
    (
        r"%scores_\d+:\d = ttng\.warp_group_dot_wait",
        "scores = ",
        "tritongpu-pipeline",
        "ttng.warp_group_dot",
    ),
    (r"%dp_\d+:\d = ttng\.warp_group_dot_wait", "dp = ", "tritongpu-pipeline", "ttng.warp_group_dot"),
    (r"%k_\d+ = ttg\.async_wait %k", "k = tl.load", "tritongpu-pipeline", "tt.load"),
    (r"%total_\d+ = ttg\.async_wait", "for start in", "tritongpu-pipeline", "scf.for"),
    (r"%total_\d+ = ttng\.warp_group_dot_wait", "for start in", "tritongpu-pipeline", "scf.for"),
]


@pytest.mark.nightly
@pytest.mark.parametrize("triton", TRITONS)
def test_operations_of_an_attention_gradient(compile_source, follow, triton):
    record = compile_source(ATTENTION, triton=triton)
    lines = ttgir(record).split("\n")
    for pattern, source, maker, origin in ATTENTION_ORIGINS:
        found = [number for number, line in enumerate(lines, 1) if re.search(pattern, line)]
        assert found, pattern
        for number in found:
            document = follow(record, number, stage="ttgir")
            assert made(record, document) == (maker, {origin}), lines[number - 1]
            assert [line.startswith(source) for line in source_of(record, document)] == [True]
    # The loads of k and v are pipelined: one copy before the loop, one in it.
    assert len(lines_of(ttgir(record), "async_copy_global_to_local")) == 4


def test_a_reduction_leads_back_to_the_library_and_to_its_call(compile_example, follow):
    """Softmax calls tl.max, whose tt.reduce the pass `inline` puts in the place of the call.

    Before it, tt.reduce is in the functions of the library only, and the kernel has a tt.call for each.
    """
    record = compile_example("softmax")
    kernel_before = record.text_after_pass(0).split("tt.func ")[1]
    assert "tt.reduce" not in kernel_before
    assert kernel_before.count("tt.call") == 2
    (inline,) = passes(record, "inline")
    assert count(record, inline, "tt.call") == 0
    maximum, _ = lines_of(ttgir(record), r"tt\.reduce(?!\.)")
    document = follow(record, maximum, stage="ttgir")
    first = document["steps"][0]["lines"]
    assert {row["operation"] for row in first} == {"tt.reduce", "tt.call"}
    (inlined,) = next(step for step in document["steps"] if step["index"] == inline)["lines"]
    assert sorted(inlined["origins"]) == sorted(row["line"] for row in first)
    assert "tl.max" in " ".join(source_of(record, document))


def test_a_tensor_core_operation_of_blackwell(compile_example, follow):
    """The only tt.dot becomes the only ttng.tc_gen5_mma in one pass; then scf.for becomes warp_specialize."""
    record = compile_example("matmul_persistent", "cuda:100")
    (accelerate,) = passes(record, "tritongpu-accelerate-matmul")
    (specialize,) = passes(record, "tritongpu-automatic-warp-specialization")
    assert [count(record, index, r"tt\.dot") for index in (accelerate - 1, accelerate)] == [1, 0]
    assert [count(record, index, "tc_gen5_mma") for index in (accelerate - 1, accelerate)] == [0, 1]
    assert " ttg.warp_specialize(" not in record.text_after_pass(specialize - 1)
    assert " ttg.warp_specialize(" in record.text_after_pass(specialize)
    text = ttgir(record)
    (multiply,) = lines_of(text, r"ttng\.tc_gen5_mma")
    assert made(record, follow(record, multiply, stage="ttgir")) == (
        "tritongpu-accelerate-matmul",
        {"tt.dot"},
    )
    special = next(
        number for number, line in enumerate(text.split("\n"), 1) if " ttg.warp_specialize(" in line
    )
    assert made(record, follow(record, special, stage="ttgir")) == (
        "tritongpu-automatic-warp-specialization",
        {"scf.for"},
    )


def test_a_matmul_for_amd(compile_example, follow):
    """For AMD, the pipeliner puts loaded tiles into shared memory by local_store; none is there before it.

    The stores through pointers become buffer stores in one pass: as many before it as after it.
    """
    record = compile_example("matmul", "hip:gfx942")
    (pipeline,) = passes(record, "tritonamdgpu-pipeline")
    (buffers,) = passes(record, "tritonamdgpu-convert-buffer-ops")
    assert count(record, pipeline - 1, "ttg.local_store") == 0 < count(record, pipeline, "ttg.local_store")
    assert count(record, buffers - 1, "tt.store") == count(record, buffers, "amdg.buffer_store") == 1
    text = ttgir(record)
    for number in lines_of(text, r"ttg\.local_store"):
        document = follow(record, number, stage="ttgir")
        assert made(record, document) == ("tritonamdgpu-pipeline", {"tt.load"})
        assert "tl.load" in source_of(record, document)[0]
    (store,) = lines_of(text, r"amdg\.buffer_store")
    document = follow(record, store, stage="ttgir")
    assert made(record, document) == ("tritonamdgpu-convert-buffer-ops", {"tt.store"})
    (code,) = document["instructions"]
    assert code["is_equal"]
    stored = [record.text(record.stage("amdgcn").text).split("\n")[line - 1] for line in code["lines"]]
    assert any("buffer_store" in line for line in stored)
    assert not any("mfma" in line for line in stored)


def test_a_folded_operation_has_several_origins(compile_example, follow):
    """`canonicalize` makes a comparison from a select of a comparison: MLIR fuses the two locations."""
    record = compile_example("matmul_persistent", "cuda:100")
    document = next(
        found
        for index in passes(record, "canonicalize")
        for line in lines_of(record.text_after_pass(index), "arith.cmpi ne")
        for found in [follow(record, line, **{"pass": index})]
        if found["made_by"] == index or len(found["steps"][found["asked"]]["lines"][0]["origins"]) > 1
    )
    (row,) = document["steps"][document["asked"]]["lines"]
    before = {each["line"]: each["operation"] for each in document["steps"][document["asked"] - 1]["lines"]}
    assert sorted(before[line] for line in row["origins"]) == ["arith.cmpi", "arith.select"]


def test_what_has_no_location_is_unknown(matmul, follow):
    """`sccp` makes its constants anew, without locations: there is no origin, and none is guessed."""
    sccp = passes(matmul, "sccp")[-1]
    line = lines_of(matmul.text_after_pass(sccp), r"arith\.constant 127")[0]
    assert "arith.constant 127" in matmul.text_after_pass(sccp - 1)
    document = follow(matmul, line, **{"pass": sccp})
    assert document["steps"][0]["index"] == document["unknown_before"] == sccp
    assert document["steps"][0]["lines"][0]["origins"] == []
    assert (document["made_by"], document["made_from"]) == (sccp, [])
    assert document["source_lines"] == []


def test_a_dot_is_followed_to_its_instructions(matmul, follow):
    (line,) = lines_of(matmul.text_after_pass(0), r"tt\.dot")
    document = follow(matmul, line, **{"pass": 0})
    steps = {step["index"]: step for step in document["steps"]}
    (accelerate,) = passes(matmul, "tritongpu-accelerate-matmul")
    assert steps[accelerate]["is_touched"]
    assert "ttng.warp_group_dot" in {row["operation"] for row in steps[accelerate]["lines"]}
    assert matmul.compiler_pass(0).name == "ast-to-ttir"
    assert (document["made_by"], document["made_from"]) == (0, [])
    assert all("tl.dot" in line for line in source_of(matmul, document))
    code = {each["stage"]: each for each in document["instructions"]}
    assert code["ptx"]["is_equal"]
    assert code["sass"]["is_equal"]
    ptx = matmul.text(matmul.stage("ptx").text).split("\n")
    multiplied = {number for number, text in enumerate(ptx, 1) if "wgmma.mma_async" in text}
    assert multiplied
    assert multiplied <= set(code["ptx"]["lines"])
    sass = matmul.text(matmul.stage("sass").text).split("\n")
    assert any("HGMMA" in sass[line - 1] for line in code["sass"]["lines"])
    # Not the instructions of the whole source: fewer than the instructions of the kernel.
    assert len(code["sass"]["lines"]) < 0.2 * len(sass)


def test_an_instruction_names_its_operation(matmul, follow):
    ptx = matmul.text(matmul.stage("ptx").text).split("\n")
    for opcode, operation in {
        "wgmma.mma_async": "ttng.warp_group_dot",
        "cp.async.cg": "ttg.async_copy_global_to_local",
        "st.global": "tt.store",
    }.items():
        found = [number for number, text in enumerate(ptx, 1) if opcode in text]
        assert found, opcode
        for number in found:
            document = follow(matmul, number, stage="ptx")
            rows = document["steps"][document["asked"]]["lines"]
            assert {row["operation"] for row in rows} == {operation}
            code = next(each for each in document["instructions"] if each["stage"] == "ptx")
            assert number in code["lines"]
            lines = ttgir(matmul).split("\n")
            assert all(lines[row["line"] - 1].strip() == row["text"] for row in rows)


def test_every_step_has_the_text_of_its_line(matmul, follow):
    (line,) = lines_of(matmul.text_after_pass(0), r"tt\.store")
    document = follow(matmul, line, **{"pass": 0})
    assert len(document["steps"]) > 5
    for step in document["steps"]:
        lines = matmul.text_after_pass(step["index"]).split("\n")
        for row in step["lines"]:
            assert lines[row["line"] - 1].strip() == row["text"]


@pytest.mark.parametrize("triton", TRITONS)
@pytest.mark.parametrize("target", ["cuda:80", "cuda:90", "cuda:100", "hip:gfx942", "hip:gfx1100"])
def test_both_compilations_agree(compile_example, app, triton, target):
    """All modules and all instructions equal the ordinary compilation's; every pass is covered."""
    for example in ("vector_add", "softmax", "gluon_copy"):
        record = compile_example(example, target, triton)
        recording = recorded_lineage(app, record)
        modules = lineage._Modules(record, recording)
        assert modules.origins.count == len(record.result.passes)
        assert [index for index in modules.changed if not modules.text(index).is_known] == []
        stages = [name for name in recording.stages if name in ("ptx", "sass", "amdgcn")]
        assert stages == (["amdgcn"] if target.startswith("hip") else ["ptx", "sass"])
        assert not any(lineage._differing_lines(record, name, recording.stages[name]) for name in stages)


def recorded_lineage(app, record):
    return lineage.Recording.of(services_of(app).queue.ask(replace(record.request, task="lineage")))


def find_in(recording, record, **parameters):
    recorded = msgspec.json.encode(recording)
    return lineage.QUERY.find(Subject((record,), parameters, None, lambda _query, _parameters: recorded))


def altered_code(recording, stage, line, text):
    """Return the recording with one other line of machine code."""
    second = recording.stages[stage]
    lines = second.text.split("\n")
    lines[line - 1] = text
    other = msgspec.structs.replace(second, text="\n".join(lines))
    return msgspec.structs.replace(recording, stages=recording.stages | {stage: other})


def test_code_that_differs_is_not_mapped(matmul, app):
    recording = altered_code(recorded_lineage(app, matmul), "sass", 100, "NOP ;")
    (line,) = lines_of(ttgir(matmul), r"ttng\.warp_group_dot")
    document = find_in(recording, matmul, stage="ttgir", line=str(line))
    code = {each.stage: each for each in document.instructions}
    assert (code["sass"].is_equal, code["sass"].lines, code["sass"].differing_lines) == (False, [], 1)
    assert code["ptx"].is_equal
    with pytest.raises(NotAnswerable, match="1 lines of the SASS differ"):
        find_in(recording, matmul, stage="sass", line="200")


def test_no_lines_are_shown_of_a_module_that_differs(matmul, app):
    recording = recorded_lineage(app, matmul)
    (accelerate,) = passes(matmul, "tritongpu-accelerate-matmul")
    modules = tuple(
        replace(module, digest="other") if module.index == accelerate else module
        for module in recording.modules
    )
    altered = msgspec.structs.replace(recording, modules=modules)
    (line,) = lines_of(ttgir(matmul), r"ttng\.warp_group_dot")
    document = find_in(altered, matmul, stage="ttgir", line=str(line))
    step = next(step for step in document.steps if step.index == accelerate)
    assert (step.is_known, step.lines) == (False, [])
    assert document.made_by is None
    with pytest.raises(NotAnswerable, match="another module"):
        find_in(altered, matmul, **{"pass": str(accelerate), "line": str(line)})


def test_passes_before_a_failure_have_a_lineage(compile_source, follow):
    """On sm_100, the blocks of a cluster cannot share the right operand of a product: a pass fails."""
    record = compile_source(SQUARE, "cuda:100", num_ctas=2)
    failed = max(record.result.passes)
    assert record.compiler_pass(failed).failed
    last = failed - 1
    (line,) = lines_of(record.text_after_pass(last), r"tt\.store")
    document = follow(record, line, **{"pass": last})
    assert source_of(record, document) == ["tl.store(x_ptr + places, tl.dot(x, x).to(x.dtype))"]
    assert document["instructions"] == []


def test_the_recording_is_cached(query_service, follow, matmul):
    (line,) = lines_of(ttgir(matmul), r"ttng\.warp_group_dot")
    follow(matmul, line, stage="ttgir")
    assert query_service.cached(lineage.RECORDING, matmul, {}) is not None


def test_llvm_passes_have_no_lineage(matmul, app):
    record = replace(matmul, request=replace(matmul.request, task="llvm-passes"))
    with pytest.raises(NotAnswerable, match="LLVM's own passes"):
        lineage.QUERY.find(Subject((record,), {}, None))


@pytest.mark.parametrize("line", ["0", "999999", "x", "", "1"])
def test_a_line_without_an_operation_is_refused(query_service, matmul, line):
    parameters = {"stage": "ttgir", "line": line}
    with pytest.raises(InvalidRequest):
        query_service.answer(lineage.QUERY, (matmul,), parameters)
