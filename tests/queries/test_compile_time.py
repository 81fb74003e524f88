"""Test the query `compile_time`: times, instructions by source line, and the cause with its advice."""

import json

import pytest
from tritons import TRITONS

from explorer.queries import compile_time

ADD = """import torch
import triton
import triton.language as tl

@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + y, mask=mask)

x = torch.empty(1_000_000, device="cuda")
add_kernel[(31,)](x, x, x, 1_000_000, BLOCK_SIZE={block}, num_warps={warps})
"""
POLYNOMIAL = """import torch
import triton
import triton.language as tl

@triton.jit
def horner(total, x, i):
    return tl.exp(total * x) + i

@triton.jit
def polynomial(x_ptr, y_ptr, N: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    total = tl.zeros((BLOCK,), tl.float32)
    for i in tl.{loop}(N // 2):
        total = horner(total, x, i)
    tl.store(y_ptr + offsets, total)

x = torch.empty(1024, device="cuda")
polynomial[(1,)](x, x, N=64, BLOCK=128)
"""
DISTANCES = """import torch
import triton
import triton.language as tl

@triton.jit
def distances(x_ptr, y_ptr, out_ptr, ROWS: tl.constexpr):
    rows = tl.arange(0, ROWS)
    x = tl.load(x_ptr + rows)
    y = tl.load(y_ptr + rows)
    apart = x[:, None] - y[None, :]
    tl.store(out_ptr + rows, tl.sum(apart * apart, 1))

x = torch.empty(1024, device="cuda")
distances[(1,)](x, x, x, ROWS=256)
"""


@pytest.fixture
def answer(query_service, compile_source):
    def answer(source, **options):
        record = compile_source(source, **options)
        assert record.status == "complete", record.result.error_messages
        return json.loads(query_service.answer(compile_time.QUERY, (record,), {}))

    return answer


@pytest.mark.parametrize("triton", TRITONS)
def test_a_block_that_is_too_large_is_named_and_more_warps_help(answer, triton):
    document = answer(ADD.format(block=32768, warps=4), triton=triton)
    # Triton 3.6 does not say which expression of the line it is.
    before = "offsets = tl.program_id(axis=0) * BLOCK_SIZE + " if triton.startswith("3.6") else ""
    assert document["cause"] == {
        "text": f"`{before}tl.arange(0, BLOCK_SIZE)` in line 7 has 32,768 elements: on 128 threads, that is "
        "256 elements per thread, and a thread has at most 255 registers. Each element has its own "
        "instructions.",
        "advice": "Use a smaller tile or more warps, so that each thread has fewer elements.",
        "source_line": 7,
        "shape": [32768],
    }
    for better in (ADD.format(block=8192, warps=4), ADD.format(block=32768, warps=16)):
        advised = answer(better, triton=triton)
        assert advised["cause"] is None
        assert advised["tensors"][0]["elements_per_thread"] == 64
        assert advised["operations"]["ptx"] < document["operations"]["ptx"] / 2
        assert _ptxas(advised) < _ptxas(document)


def _ptxas(document):
    return next(each["milliseconds"] for each in document["steps"] if each["name"] == "ptxas")


@pytest.mark.parametrize("triton", TRITONS)
def test_an_unrolled_loop_is_named_and_a_loop_helps(answer, triton):
    document = answer(POLYNOMIAL.format(loop="static_range"), triton=triton)
    cause = document["cause"]
    assert cause["source_line"] == 14
    assert cause["text"].startswith("The loop in line 14 is unrolled 32 times (`tl.static_range`): ")
    assert cause["advice"].startswith("Use `tl.range` ")
    advised = answer(POLYNOMIAL.format(loop="range"), triton=triton)
    assert advised["cause"] is None
    assert advised["operations"]["ttir"] < document["operations"]["ttir"] / 4


def test_the_tensor_of_an_operator_is_named_by_its_expression(answer):
    document = answer(DISTANCES)
    assert document["cause"]["text"].startswith(
        "`x[:, None] - y[None, :]` in line 10 has 65,536 elements: on 128 threads, that is 512 elements "
    )


def test_an_ordinary_matmul_has_no_single_cause(query_service, compile_example):
    record = compile_example("matmul")
    document = json.loads(query_service.answer(compile_time.QUERY, (record,), {}))
    assert document["cause"] is None
    assert [each["name"] for each in document["steps"]] == [
        "AST walk",
        "MLIR passes",
        "LLVM",
        "ptxas",
        "script, printing and disassembly",
    ]
    parts = sum(each["milliseconds"] for each in document["steps"])
    assert parts == pytest.approx(document["milliseconds"], abs=0.1)
    own = [each.milliseconds for each in record.result.passes.values()]
    assert sum(each["milliseconds"] for each in document["passes"]) == pytest.approx(sum(own), abs=0.1)
    assert sum(each["runs"] for each in document["passes"]) == len(own)
    source = record.request.source.splitlines()
    for each in document["lines"]:
        assert each["text"] == (source[each["line"] - 1].strip() if each["line"] else "")
    product = next(each for each in document["lines"] if "tl.dot(" in each["text"])
    assert product["operations"].keys() == {"ttir", "ttgir", "llir", "ptx"}


def test_amd_has_an_assembler_with_a_linker(answer):
    document = answer(ADD.format(block=1024, warps=4), target="hip:gfx942")
    assert "assembler and linker" in [each["name"] for each in document["steps"]]
    assert document["operations"]["amdgcn"] > 0
    assert document["cause"] is None


def test_a_failed_compilation_has_the_times_of_its_passes(query_service, compile_source):
    source = ADD.format(block=1024, warps=4).replace("x + y, mask=mask", "x.trans(0, 1), mask=mask")
    record = compile_source(source)
    assert record.status == "failed"
    document = json.loads(query_service.answer(compile_time.QUERY, (record,), {}))
    assert document["cause"] is None and document["tensors"] == []
