"""Test the query `allocation`."""

import json

import pytest
from tritons import TRITONS

from explorer.analysis.occupancy.theoretical import occupancy
from explorer.queries import allocation, fewer_stages


@pytest.fixture(params=TRITONS)
def matmul(request, query_service, compile_example):
    record = compile_example("matmul", triton=request.param)
    return record, json.loads(query_service.answer(allocation.QUERY, (record,), {}))


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


def test_a_kernel_without_shared_memory_has_no_buffers(query_service, compile_example):
    document = json.loads(query_service.answer(allocation.QUERY, (compile_example("vector_add"),), {}))
    assert [each["buffers"] for each in document["functions"]] == [[]]
    assert document["shared_bytes"] == 0


@pytest.mark.parametrize("triton", TRITONS)
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
    expected = {"modelled"} if record.request.triton == "3.6.0" else {"compiler", "lowering"}
    assert {each["source"] for each in function["barriers"]} == expected
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


def test_fewer_stages_are_compiled_not_guessed(query_service, compile_example):
    record = compile_example("matmul")
    document = json.loads(query_service.answer(fewer_stages.QUERY, (record,), {}))
    assert [(each["num_stages"], each["shared_bytes"]) for each in document["rows"]] == [
        (3, 98304),
        (2, 65536),
    ]
    assert document["rows"][0]["id"] == record.id


def test_tensor_memory_has_columns(query_service, compile_example):
    document = json.loads(
        query_service.answer(allocation.QUERY, (compile_example("matmul", target="cuda:100"),), {})
    )
    (tensor,) = document["tensor_memory"]
    assert tensor["allocated_columns"] == 128
    assert [(each["column"], each["columns"], each["rows"]) for each in tensor["buffers"]] == [(0, 128, 128)]


#: Two products with accumulators of 64 rows, which are alive at the same time, and one with scales.
NARROW = """
import torch
import triton
import triton.language as tl


@triton.jit
def narrow(a, b, c, out, k_size, N: tl.constexpr, K: tl.constexpr):
    rows, columns, inner = tl.arange(0, 64), tl.arange(0, N), tl.arange(0, K)
    first = tl.zeros((64, N), tl.float32)
    second = tl.zeros((64, N), tl.float32)
    for start in range(0, k_size, K):
        left = tl.load(a + rows[:, None] * k_size + start + inner[None, :])
        first = tl.dot(left, tl.load(b + (start + inner[:, None]) * N + columns[None, :]), first)
        second = tl.dot(left, tl.load(c + (start + inner[:, None]) * N + columns[None, :]), second)
    tl.store(out + rows[:, None] * N + columns[None, :], first * second)


K = 512
a = torch.randn(64, K, device="cuda", dtype=torch.float16)
b, c = torch.randn(2, K, 128, device="cuda", dtype=torch.float16)
narrow[(1,)](a, b, c, torch.empty(64, 128, device="cuda"), K, 128, 64)
"""
SCALED = """
import torch
import triton
import triton.language as tl


@triton.jit
def scaled(a, a_scale, b, b_scale, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    scales = tl.arange(0, K // 32)
    product = tl.dot_scaled(
        tl.load(a + rows[:, None] * K + inner[None, :]),
        tl.load(a_scale + rows[:, None] * (K // 32) + scales[None, :]),
        "e4m3",
        tl.load(b + inner[:, None] * N + columns[None, :]),
        tl.load(b_scale + columns[:, None] * (K // 32) + scales[None, :]),
        "e4m3",
    )
    tl.store(out + rows[:, None] * N + columns[None, :], product)


M, N, K = 128, 128, 256
a = torch.zeros(M, K, device="cuda", dtype=torch.float8_e4m3fn)
b = torch.zeros(K, N, device="cuda", dtype=torch.float8_e4m3fn)
a_scale, b_scale = torch.zeros(2, 128, K // 32, device="cuda", dtype=torch.uint8)
scaled[(1,)](a, a_scale, b, b_scale, torch.empty(M, N, device="cuda"), M, N, K)
"""
LOWER = [[0, 15], [32, 47], [64, 79], [96, 111]]
UPPER = [[16, 31], [48, 63], [80, 95], [112, 127]]


@pytest.fixture(params=TRITONS)
def tensor_memory(request, query_service, compile_source):
    """Return the map of tensor memory of a kernel by its source."""

    def tensor_memory(source):
        record = compile_source(source, "cuda:100", request.param)
        assert record.status == "complete", record.result.diagnostics
        document = json.loads(query_service.answer(allocation.QUERY, (record,), {}))
        (memory,) = document["tensor_memory"]
        assert memory["allocated_columns"] == record.result.resources.tensor_memory_columns
        return memory

    return tensor_memory


def test_two_buffers_of_64_rows_take_the_same_columns(tensor_memory):
    memory = tensor_memory(NARROW)
    found = sorted(
        (each["column"], each["columns"], each["rows"], each["row_ranges"]) for each in memory["buffers"]
    )
    assert found == [(0, 128, 64, LOWER), (0, 128, 64, UPPER)]
    assert memory["allocated_columns"] == 128


@pytest.mark.nightly
def test_scales_take_all_rows(tensor_memory):
    memory = tensor_memory(SCALED)
    found = sorted((each["type"], each["columns"], each["row_ranges"]) for each in memory["buffers"])
    assert found == [
        ("128x128xf32", 128, [[0, 127]]),
        ("128x8xi8", 8, [[0, 127]]),
        ("128x8xi8", 8, [[0, 127]]),
    ]
