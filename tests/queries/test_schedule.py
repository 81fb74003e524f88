"""Test the schedule of pipelined loops: it agrees with the loops after the next pass, in every Triton."""

import json

import pytest
from tritons import TRITONS

from explorer.errors import NotAnswerable
from explorer.queries import findings, schedule

#: Rows that are found by a load of their own, one stage before; and loops that are not pipelined.
LOOPS = """
import torch
import triton
import triton.language as tl


@triton.jit
def products(a_ptr, b_ptr, rows_ptr, c_ptr, sums_ptr, tiles, K, SIZE: tl.constexpr, BLOCK_K: tl.constexpr):
    m = tl.arange(0, SIZE)
    k = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_K,), tl.float32)
    for start in range(0, K, BLOCK_K):
        total += tl.load(a_ptr + start + k)
    tl.store(sums_ptr + k, total)
    for tile in range(tiles):
        acc = tl.zeros((SIZE, SIZE), tl.float32)
        for start in tl.range(0, K, BLOCK_K, num_stages=4):
            rows = tl.load(rows_ptr + start + k)
            a = tl.load(a_ptr + m[:, None] * K + start + k[None, :])
            b = tl.load(b_ptr + rows[:, None] * SIZE + m[None, :])
            acc = tl.dot(a, b, acc)
        for start in tl.range(0, 96, BLOCK_K, num_stages=1):
            a = tl.load(a_ptr + m[:, None] * K + start + k[None, :])
            acc = tl.dot(a, tl.trans(a), acc)
        tl.store(c_ptr + tile * SIZE * SIZE + m[:, None] * SIZE + m[None, :], acc)


a, b = (torch.randn(64, 64, device="cuda", dtype=torch.float16) for _ in range(2))
rows = torch.arange(64, device="cuda", dtype=torch.int32)
c = torch.empty(4, 64, 64, device="cuda")
sums = torch.empty(32, device="cuda")
products[(1,)](a, b, rows, c, sums, 4, 64, SIZE=64, BLOCK_K=32)
"""
COPIES = ("ttg.async_copy_global_to_local", "ttng.async_tma_copy_global_to_local")
PRODUCTS = ("tt.dot", "ttng.warp_group_dot", "ttng.tc_gen5_mma")


@pytest.fixture
def ask(query_service):
    return lambda query, record: json.loads(query_service.answer(query, (record,), {}))


def check(document, origins):
    """Compare the stages with the operations after the pipelining pass; return their number."""
    made = {each["line"]: {one["operation"]: one for one in each["made"]} for each in origins}
    checked = 0
    for loop in document["loops"]:
        last = loop["last_stage"]
        for operation in loop["operations"]:
            is_load = operation["operation"] in ("tt.load", "tt.descriptor_load")
            for name in COPIES if is_load else PRODUCTS:
                if found := made[operation["line"]].get(name):
                    assert found["inside"] == 1, operation
                    assert found["before"] == last - operation["stage"], operation
                    checked += 1
    return checked


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "target", "count"),
    [
        ("matmul_descriptors", "cuda:90", 3),
        ("matmul_persistent", "cuda:90", 3),
        ("flash_attention", "cuda:100", 8),
    ],
)
def test_a_stage_says_how_often_an_operation_is_before_the_loop(ask, compile_example, name, target, count):
    record = compile_example(name, target)
    assert check(ask(schedule.QUERY, record), ask(schedule.LINES, record)) == count


@pytest.mark.parametrize("triton", TRITONS)
@pytest.mark.parametrize("target", ["cuda:80", "cuda:100", "hip:gfx942"])
def test_each_loop_has_its_stages_or_a_reason(ask, compile_source, target, triton):
    record = compile_source(LOOPS, target, triton)
    document, origins = ask(schedule.QUERY, record), ask(schedule.LINES, record)
    sums, tiles, products, single = document["loops"]
    assert "no matrix product" in sums["reason"]
    assert "innermost" in tiles["reason"]
    assert "`num_stages` of 1" in single["reason"]
    assert [loop["depth"] for loop in document["loops"]] == [0, 0, 1, 1]
    assert [loop["iterations"] for loop in document["loops"]] == [None, None, None, 3]
    assert products["reason"] == ""
    source = {each["line"]: each["source_lines"] for each in origins}
    stages = {
        LOOPS.split("\n")[source[each["line"]][0] - 1].split()[0]: each["stage"]
        for each in products["operations"]
        if each["operation"] in ("tt.load", *PRODUCTS)
    }
    assert stages["rows"] == 0
    assert stages["a"] == stages["b"] == 1
    assert stages["acc"] > 1
    if target.startswith("cuda"):
        assert check(document, origins) == 4
    else:
        (dot,) = [each for each in origins if any(one["operation"] == "tt.dot" for one in each["made"])]
        (made,) = [one for one in dot["made"] if one["operation"] == "tt.dot"]
        assert made == {"operation": "tt.dot", "before": 0, "inside": 1, "after": products["last_stage"]}


#: The address of a load is loaded in the turn before; in the third loop, that of another load is not.
CHASES = """
import torch
import triton
import triton.language as tl


@triton.jit
def chase(next_ptr, out_ptr, turns, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    one = tl.program_id(0)
    for turn in range(turns):
        one = tl.load(next_ptr + one)
    tl.store(out_ptr, one)
    many = at
    for turn in tl.range(0, turns, num_stages=3):
        many = tl.load(next_ptr + many)
    tl.store(out_ptr + at, many)
    many = at
    total = at
    for turn in range(turns):
        total += tl.load(out_ptr + turn * SIZE + at)
        many = tl.load(next_ptr + many)
    tl.store(out_ptr + at, many + total)
    total = at
    for turn in range(turns):
        total += tl.load(next_ptr + tl.load(out_ptr + turn * SIZE + at))
    tl.store(out_ptr + at, total)


pointers = torch.zeros(4096, device="cuda", dtype=torch.int32)
chase[(8,)](pointers, pointers, 10, SIZE=256)
"""


@pytest.mark.parametrize("triton", TRITONS)
def test_a_load_that_needs_the_load_before_it_cannot_start_ahead(ask, compile_source, triton):
    record = compile_source(CHASES, triton=triton)
    one, many, mixed, indirect = ask(schedule.QUERY, record)["loops"]
    assert [each["chained_loads"] for each in (one, many, mixed, indirect)] == [1, 1, 1, 0]
    # The compiler agrees: it pipelines neither loop, also with a number of stages.
    assert one["last_stage"] == many["last_stage"] == 0
    assert many["num_stages"] == 3
    for loop in (one, many):
        assert "the turn before loads" in loop["reason"]
        assert "num_stages" not in loop["reason"]
    assert "no matrix product" in mixed["reason"]
    rule = [each for each in ask(findings.QUERY, record)["findings"] if each["rule"] == "pipelining"]
    assert [bool(each["changes"]) for each in rule if "turn before" in each["cause"]] == [False, False]
    assert len(rule) == 4


def test_a_gluon_kernel_has_no_schedule(query_service, compile_example):
    with pytest.raises(NotAnswerable, match="Gluon"):
        query_service.answer(schedule.QUERY, (compile_example("gluon_copy"),), {})


def test_the_iterations_of_constant_bounds_are_known(ask, compile_example):
    (loop,) = ask(schedule.QUERY, compile_example("convolution_2d"))["loops"]
    assert loop["iterations"] == 9
