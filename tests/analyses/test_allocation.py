"""The allocation of shared memory, as it stands in the stored result."""

import json

import pytest

from explorer.analyses import allocation, fewer_stages
from explorer.analysis.occupancy import occupancy


@pytest.fixture(params=["3.9.0", "3.6.0"])
def matmul(request, analyst, compile_example):
    record = compile_example("matmul", triton=request.param)
    return record, json.loads(analyst.answer(allocation.ANALYSIS, record, {}))


def test_matmul_has_two_pipelined_operands_and_a_scratch_in_their_place(matmul):
    record, document = matmul
    (function,) = document["functions"]
    rows = [(each["use"], each["size_bytes"], each["offset_bytes"]) for each in function["buffers"]]
    assert rows == [("explicit", 49152, 0), ("explicit", 49152, 49152), ("scratch", 32768, 0)]
    assert document["shared_bytes"] == 98304 == record.result.resources.shared_bytes


def test_buffers_name_their_operations(matmul):
    _, document = matmul
    owners = [each["operation"] for each in document["functions"][0]["buffers"]]
    assert owners == ["ttg.local_alloc", "ttg.local_alloc", "ttg.convert_layout"]


def test_buffers_that_overlap_are_not_alive_at_the_same_time(matmul):
    _, document = matmul
    operand, _, scratch = document["functions"][0]["buffers"]
    assert operand["end"] <= scratch["start"]


def test_offsets_equal_the_attributes_that_the_pass_leaves_behind(matmul):
    record, document = matmul
    after = record.text_after_pass(document["functions"][0]["pass_index"])
    for buffer in document["functions"][0]["buffers"]:
        assert f"allocation.offset = {buffer['offset_bytes']} : i32" in after


def test_a_kernel_without_shared_memory_has_no_buffers(analyst, compile_example):
    document = json.loads(analyst.answer(allocation.ANALYSIS, compile_example("vector_add"), {}))
    assert [each["buffers"] for each in document["functions"]] == [[]]
    assert document["shared_bytes"] == 0


@pytest.mark.parametrize("triton", ["3.9.0", "3.6.0"])
def test_what_warp_specialization_needs_is_alive_as_long_as_the_function(compile_example, triton):
    record = compile_example("matmul_persistent", target="cuda:100", triton=triton)
    assert record.status == "complete"
    endless = [each for each in record.result.allocations[0].buffers if each.end is None]
    assert [(each.use, each.start) for each in endless] == [("scratch", 0)]


def test_a_buffer_says_where_it_comes_from_and_what_it_is_called(matmul):
    record, document = matmul
    a, b, scratch = document["functions"][0]["buffers"]
    source = record.request.source.splitlines()
    assert (a["name"], b["name"], scratch["name"]) == ("a", "b", "scratch of ttg.convert_layout")
    assert "a = tl.load" in source[a["first"]["source_line"] - 1]
    assert "b = tl.load" in source[b["first"]["source_line"] - 1]
    assert (a["slots"], a["alignment_bytes"], scratch["alignment_bytes"]) == (3, 1024, 128)
    assert a["alive_with"] == [b["index"]]
    assert a["shares_bytes_with"] == [scratch["index"]]
    assert {each["place"]["operation"] for each in a["views"]} >= {"ttg.memdesc_index"}


def test_barriers_name_their_hazard(matmul):
    record, document = matmul
    (function,) = document["functions"]
    expected = "compiler" if record.request.triton == "3.9.0" else "modelled"
    assert {each["source"] for each in function["barriers"]} == {expected}
    hazards = [hazard for each in function["barriers"] for hazard in each["hazards"]]
    assert any(
        hazard["kind"] == "read after write"
        and hazard["before"]["operation"] == "ttg.async_copy_global_to_local"
        and hazard["after"]["operation"] == "ttng.warp_group_dot"
        for hazard in hazards
    )


def test_steps_are_where_a_byte_more_means_a_block_less(matmul):
    record, document = matmul
    resources = record.result.resources
    for step in document["steps"]:
        at, above = (
            occupancy("cuda:90", resources.threads, resources.registers, step["most_shared_bytes"] + more)
            for more in (0, 1)
        )
        assert at.blocks_per_multiprocessor == step["blocks"] > above.blocks_per_multiprocessor
    assert document["steps"][-1]["most_shared_bytes"] == document["shared_limit_bytes"]


def test_fewer_stages_are_compiled_not_guessed(analyst, compile_example):
    record = compile_example("matmul")
    document = json.loads(analyst.answer(fewer_stages.ANALYSIS, record, {}))
    assert [(each["num_stages"], each["shared_bytes"]) for each in document["rows"]] == [
        (3, 98304),
        (2, 65536),
    ]
    assert document["rows"][0]["id"] == record.id


def test_tensor_memory_has_columns(analyst, compile_example):
    document = json.loads(
        analyst.answer(allocation.ANALYSIS, compile_example("matmul", target="cuda:100"), {})
    )
    (tensor,) = document["tensor_memory"]
    assert tensor["allocated_columns"] == 128
    assert [(each["column"], each["columns"], each["rows"]) for each in tensor["buffers"]] == [(0, 128, 128)]
