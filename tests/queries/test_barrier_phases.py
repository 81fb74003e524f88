"""Test the phases of mbarriers: they complete as often as the loop turns, in every Triton."""

import json
import re

import pytest
from tritons import TRITONS

from explorer.analysis.mbarriers import NotEvaluated, execute
from explorer.errors import NotAnswerable
from explorer.queries import barrier_phases

#: A product of tiles whose loop has 384 / 64 = 6 turns, and one whose bounds are in memory.
PRODUCT = """
import torch
import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, c_ptr, sizes_ptr, N, K, SIZE: tl.constexpr, BLOCK_K: tl.constexpr, SPECIALIZE: tl.constexpr, FROM_MEMORY: tl.constexpr):
    a_tiles = tl.make_tensor_descriptor(a_ptr, [N, K], [K, 1], [SIZE, BLOCK_K])
    b_tiles = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BLOCK_K, SIZE])
    row, column = tl.program_id(0) * SIZE, tl.program_id(1) * SIZE
    end = tl.load(sizes_ptr) if FROM_MEMORY else K
    acc = tl.zeros((SIZE, SIZE), dtype=tl.float32)
    for k in tl.range(0, end, BLOCK_K, num_stages=3, warp_specialize=SPECIALIZE):
        a = a_tiles.load([row, k])
        b = b_tiles.load([k, column])
        acc = tl.dot(a, b, acc)
    m, n = row + tl.arange(0, SIZE), column + tl.arange(0, SIZE)
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(tl.float16))


@triton.jit
def persistent(a_ptr, b_ptr, c_ptr, N, K, SIZE: tl.constexpr, BLOCK_K: tl.constexpr, SPECIALIZE: tl.constexpr):
    a_tiles = tl.make_tensor_descriptor(a_ptr, [N, K], [K, 1], [SIZE, BLOCK_K])
    b_tiles = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BLOCK_K, SIZE])
    c_tiles = tl.make_tensor_descriptor(c_ptr, [N, N], [N, 1], [SIZE, SIZE])
    across = N // SIZE
    for tile in tl.range(
        tl.program_id(0), across * across, tl.num_programs(0), flatten=True, warp_specialize=SPECIALIZE
    ):
        row, column = tile // across * SIZE, tile % across * SIZE
        acc = tl.zeros((SIZE, SIZE), dtype=tl.float32)
        for k in range(0, K, BLOCK_K):
            acc = tl.dot(a_tiles.load([row, k]), b_tiles.load([k, column]), acc)
        c_tiles.store([row, column], acc.to(tl.float16))


triton.set_allocator(lambda size, alignment, stream: torch.empty(size, device="cuda", dtype=torch.int8))
a = torch.randn(512, 384, device="cuda", dtype=torch.float16)
b = torch.randn(384, 512, device="cuda", dtype=torch.float16)
c = torch.empty(512, 512, device="cuda", dtype=torch.float16)
sizes = torch.tensor([384], device="cuda", dtype=torch.int32)
"""
TILE = "product[(4, 4)](a, b, c, sizes, 512, 384, SIZE=128, BLOCK_K=64, SPECIALIZE={}, FROM_MEMORY={})\n"
PERSISTENT = "persistent[(6,)](a, b, c, 512, 384, SIZE=128, BLOCK_K=64, SPECIALIZE={})\n"
TURNS = 6


@pytest.fixture
def ask(query_service):
    return lambda record: json.loads(query_service.answer(barrier_phases.QUERY, (record,), {}))


def completed(document, is_filled):
    """Return how often the mbarriers completed a phase that copies fill, or that products end."""
    return sum(
        each["completed_phases"]
        for each in document["barriers"]
        if (each["filled"] if is_filled else "products" in each["arrivers"] and not each["filled"])
    )


def check_order(document):
    """Check the states and the waits against each other, step by step."""
    waits = 0
    for thread in document["threads"]:
        ends = [span["end"] for span in thread["spans"]]
        assert ends == sorted(set(ends))
        for span in thread["spans"]:
            if span["parity"] is None:
                continue
            waits += 1
            states = document["barriers"][span["barrier"]]["states"]

            def phase(step, states=states):
                return max((each for each in states if each["step"] <= step), key=lambda each: each["step"])[
                    "phase"
                ]

            assert phase(span["end"] - 1) % 2 != span["parity"], span
            for step in range(span["first"], span["end"] - 1):
                assert phase(step) % 2 == span["parity"], span
    assert waits


@pytest.mark.parametrize("triton", TRITONS)
@pytest.mark.parametrize("target", ["cuda:90", "cuda:100"])
@pytest.mark.parametrize("is_specialized", [False, True])
def test_each_turn_of_the_loop_completes_a_phase(ask, compile_source, target, triton, is_specialized):
    record = compile_source(PRODUCT + TILE.format(is_specialized, False), target, triton)
    document = ask(record)
    assert document["findings"] == []
    assert document["assumed"] == []
    assert document["steps"] == document["recorded_steps"]
    # Partitions of sm_90 have a copy of their own rows each.
    buffers = {name.partition("[")[0] for each in document["barriers"] for name in each["filled"]}
    groups = {each["allocation"] for each in document["barriers"] if each["filled"]}
    assert completed(document, is_filled=True) == TURNS * len(groups)
    assert len(buffers) == 3 if is_specialized and target == "cuda:90" else 2
    if target == "cuda:100":
        assert completed(document, is_filled=False) >= TURNS
    titles = [each["title"] for each in document["threads"]]
    assert titles == (["default", "partition0", "partition1"] if is_specialized else ["program"])
    check_order(document)
    lines = {each["line"]: each for each in document["lines"]}
    for each in document["in_flight"]:
        if each["unit"] == "copies":
            assert lines[each["line"]]["source_lines"]


@pytest.mark.parametrize("triton", TRITONS)
@pytest.mark.parametrize(("target", "is_specialized"), [("cuda:90", False), ("cuda:100", True)])
def test_a_persistent_program_fills_for_each_of_its_tiles(
    ask, compile_source, target, triton, is_specialized
):
    record = compile_source(PRODUCT + PERSISTENT.format(is_specialized), target, triton)
    document = ask(record)
    assert document["findings"] == []
    # The first of 6 programs has 3 of 16 tiles.
    assert completed(document, is_filled=True) == 3 * TURNS
    check_order(document)


def test_a_bound_from_memory_is_told(ask, compile_source):
    record = compile_source(PRODUCT + TILE.format(False, True), "cuda:90")
    with pytest.raises(NotAnswerable, match=r"line \d+ of TTGIR: it depends on the result of `tt.load`"):
        ask(record)


def test_a_kernel_without_mbarriers_is_told(ask, compile_example):
    with pytest.raises(NotAnswerable, match="no mbarrier"):
        ask(compile_example("vector_add"))
