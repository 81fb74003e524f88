"""Test the phases of mbarriers: they complete as often as the loop turns, in every Triton."""

import json
import re

import pytest
from tritons import TRITONS

from explorer.analysis.mbarriers import AssumedValue, NotEvaluated, execute
from explorer.errors import NotAnswerable
from explorer.queries import barrier_phases

#: A product of tiles whose loop has 384 / 64 = 6 turns, and one whose bounds are in memory.
PRODUCT = """
import torch
import triton
import triton.language as tl


@triton.jit
def product(
    a_ptr, b_ptr, c_ptr, sizes_ptr, N, K,
    SIZE: tl.constexpr, BLOCK_K: tl.constexpr, SPECIALIZE: tl.constexpr, FROM_MEMORY: tl.constexpr,
):
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
def persistent(
    a_ptr, b_ptr, c_ptr, N, K,
    SIZE: tl.constexpr, BLOCK_K: tl.constexpr, SPECIALIZE: tl.constexpr,
):
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


@pytest.fixture
def ttgir(compile_source):
    """Return the TTGIR of a product of tiles."""

    def ttgir(target, triton, *, is_specialized):
        record = compile_source(PRODUCT + TILE.format(is_specialized, False), target, triton)
        return record.text(record.stage("ttgir").text)

    return ttgir


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
    # The partitions of sm_90 share the columns, and each of them has its own half of the rows.
    arrays = {each["allocation"] for each in document["barriers"] if each["filled"]}
    assert len(arrays) == (3 if is_specialized and target == "cuda:90" else 1)
    assert completed(document, is_filled=True) == TURNS * len(arrays)
    if target == "cuda:100":
        assert completed(document, is_filled=False) >= TURNS
    titles = [each["title"] for each in document["threads"]]
    assert titles == (["default", "partition0", "partition1"] if is_specialized else ["program"])
    check_order(document)
    lines = {each["line"]: each for each in document["lines"]}
    for each in document["in_flight"]:
        if each["unit"] == "copies":
            assert lines[each["line"]]["source_lines"]


@pytest.mark.nightly
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


def test_a_kernel_without_mbarriers_has_no_threads(ask, compile_example):
    document = ask(compile_example("vector_add"))
    assert (document["threads"], document["barriers"], document["lines"]) == ([], [], [])


def findings(text):
    """Execute a text; return the kinds of the findings with their lines."""
    execution = execute(text, {"N": 512, "K": 384}, {"x": 4, "y": 4}, 200)
    return {(each.kind, each.line) for each in execution.findings}


def without(text, pattern, number=0):
    """Leave out the line with the match of a pattern that has this number; return the text."""
    lines = text.split("\n")
    at = [index for index, line in enumerate(lines) if re.search(pattern, line)][number]
    lines[at] = ""
    return "\n".join(lines)


@pytest.mark.parametrize("triton", TRITONS)
def test_a_missing_arrival_is_a_deadlock(ttgir, triton):
    text = ttgir("cuda:90", triton, is_specialized=True)
    assert findings(text) == set()
    changed = without(text, "ttng.arrive_barrier")
    waits = {number for number, line in enumerate(text.split("\n"), 1) if "ttng.wait_barrier" in line}
    assert findings(changed)
    assert {kind for kind, _ in findings(changed)} == {"deadlock"}
    assert {line for _, line in findings(changed)} <= waits


@pytest.mark.parametrize("triton", TRITONS)
@pytest.mark.parametrize("target", ["cuda:90", "cuda:100"])
def test_a_missing_wait_is_an_early_read(ttgir, target, triton):
    text = ttgir(target, triton, is_specialized=False)
    changed = without(text, r"ttng.wait_barrier %acc")
    found = {line for kind, line in findings(changed) if kind == "early read"}
    products = {number for number, line in enumerate(text.split("\n"), 1) if re.search("_dot|_mma", line)}
    assert found
    assert found <= products


@pytest.mark.parametrize("triton", TRITONS)
def test_a_wrong_parity_is_found(ttgir, triton):
    """The consumer begins with the parity of the producer, which a new mbarrier has completed."""
    text = ttgir("cuda:100", triton, is_specialized=True)
    partition = text.index("partition0(")
    head, loop = text[:partition], text[partition:]
    wait = re.search(r"ttng\.wait_barrier (%\w+), (%\w+)", loop)
    flipped = loop.replace(
        wait[0], f"%flipped = arith.xori {wait[2]}, %c1_i32 : i32\nttng.wait_barrier {wait[1]}, %flipped", 1
    )
    assert findings(text) == set()
    assert {kind for kind, _ in findings(head + flipped)} & {"early read", "early write"}


def test_an_argument_without_a_value_is_assumed(ttgir):
    text = ttgir("cuda:90", None, is_specialized=False)
    execution = execute(text, {"N": 512}, {}, 200)
    assert execution.assumed == (AssumedValue("K", 512),)
    assert sum(each.phase for each in execution.barriers) == 512 // 64


def test_a_long_loop_is_cut(ttgir):
    execution = execute(ttgir("cuda:90", None, is_specialized=False), {"K": 64 * 10**7}, {}, 50)
    assert execution.is_cut
    assert execution.findings == []
    assert max(span.first for thread in execution.threads for span in thread.spans) < 50
    assert all(each.phase > 100 for each in execution.barriers)


def test_clusters_of_blocks_are_refused(ttgir):
    text = ttgir("cuda:90", None, is_specialized=False).replace('"ttg.num-ctas" = 1', '"ttg.num-ctas" = 2')
    with pytest.raises(NotEvaluated, match="2 blocks"):
        execute(text, {}, {}, 50)
