"""The allocation of shared memory, as it stands in the stored result."""

import json

import pytest

from explorer.analyses import allocation


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
    owners = [each["owner"] for each in document["functions"][0]["buffers"]]
    assert "ttg.local_alloc" in owners[0]
    assert "ttg.convert_layout" in owners[2]


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
