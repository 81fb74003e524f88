"""Test the changes that tell the compiler more about arguments: each one removes its finding."""

import json

import msgspec
import pytest
from tritons import TRITONS

from explorer.analysis.source_edits import edited
from explorer.matrix.matrix import Configuration
from explorer.model import LineEdit, Request
from explorer.queries import finding_changes, findings
from explorer.queries.findings.changes import line_changes

HEAD = """import torch
import triton
import triton.language as tl

"""
ROWS = f"""{HEAD}@triton.jit
def kernel(x, out, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)  # é
    mask = offsets < n
    values = tl.load(x + row * stride + offsets, mask=mask)
    tl.store(out + row * stride + offsets, values, mask=mask)

x = torch.empty((1024, 1024), device="cuda", dtype=torch.float16)
kernel[(1024,)](x, x, 1024, 1000, BLOCK=1024)
"""
APART = f"""{HEAD}@triton.jit
def kernel(x, out, n, stride, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + offsets // n * stride + offsets % n)
    tl.store(out + offsets, values)

x = torch.empty(1 << 20, device="cuda")
kernel[(512,)](x, x, 24, 40, BLOCK=1024)
"""
PRODUCT = f"""{HEAD}@triton.jit
def kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        mask = (rm[:, None] < M) & (rk[None, :] < K - k)
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :], mask=mask, other=0.0)
        y = tl.load(b + (k + rk)[:, None] * N + rn[None, :], mask=rk[:, None] < K - k, other=0.0)
        total = tl.dot(x, y, total)
    tl.store(c + rm[:, None] * N + rn[None, :], total)

a = torch.empty((1024, 1000), device="cuda", dtype=torch.float16)
b = torch.empty((1000, 1000), device="cuda", dtype=torch.float16)
c = torch.empty((1024, 1024), device="cuda")
kernel[(16, 15)](a, b, c, 1000, 1000, 1000, BM=64, BN=64, BK=64)
"""
OFFSETS = f"""{HEAD}@triton.jit
def kernel(x, out, stride, BM: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.arange(0, BLOCK)
    values = tl.load(x + rows[:, None] * stride + columns[None, :] * 2)
    tl.store(out + rows[:, None] * BLOCK + columns[None, :], values)

x = torch.empty((1 << 17, 1 << 15), device="cuda", dtype=torch.float16)
kernel[(1 << 13,)](x, x, 1 << 15, BM=16, BLOCK=64)
"""
DIVISIONS = f"""{HEAD}@triton.jit
def kernel(x, out, turns, n, BLOCK: tl.constexpr):
    for turn in range(turns):
        at = (turn * BLOCK + tl.arange(0, BLOCK)).to(tl.int64)
        tl.store(out + at, tl.load(x + at // n))

x = torch.empty(1 << 20, device="cuda")
kernel[(1,)](x, x, 24, 40, BLOCK=1024)
"""
#: A rule, a source, and the changes that remove its first finding. Other changes do not suffice.
CASES = {
    "a row": (
        "narrow_accesses",
        ROWS,
        [
            "Line 6: `n` as `tl.constexpr`, which compiles the kernel for each value",
            "Line 9: promise that `n` is a multiple of 8 in every launch",
        ],
    ),
    "a stride": (
        "narrow_accesses",
        ROWS.replace("1024, 1000,", "1000, 992,"),
        [
            "Line 6: `stride` as `tl.constexpr`, which compiles the kernel for each value",
            "Lines 10 and 11: promise that `stride` is a multiple of 8 in every launch",
        ],
    ),
    "a stride that is not specialized": (
        "narrow_accesses",
        ROWS.replace("triton.jit", "triton.jit(do_not_specialize=['stride'])").replace("1000,", "1008,"),
        ["Lines 10 and 11: promise that `stride` is a multiple of 8 in every launch"],
    ),
    "a bound of elements of 32 bits": (
        "narrow_accesses",
        ROWS.replace(", dtype=torch.float16", "").replace("1024, 1000,", "1024, 1020,"),
        [
            "Line 6: `n` as `tl.constexpr`, which compiles the kernel for each value",
            "Line 9: promise that `n` is a multiple of 4 in every launch",
        ],
    ),
    "a divisor": (
        "narrow_accesses",
        APART,
        [
            "Line 6: `n` and `stride` as `tl.constexpr`, which compiles the kernel for each value",
            "Line 8: promise that `n` is a multiple of 4 and `stride` is a multiple of 4 in every launch",
        ],
    ),
    "a mask and an address": (
        "narrow_accesses",
        ROWS.replace("1024, 1000,", "1000, 1000,"),
        [
            "Line 6: `stride` and `n` as `tl.constexpr`, which compiles the kernel for each value",
            "Lines 9, 10 and 11: promise that `stride` is a multiple of 8 and `n` is a multiple of 8 "
            "in every launch",
        ],
    ),
    "a mask that is always true, and an address": (
        "narrow_accesses",
        ROWS.replace("offsets < n", "offsets < n // 2").replace("1024, 1000,", "1000, 3001,"),
        [
            "Lines 6 and 10: no mask, because all elements are inside in every launch, and `stride` as "
            "`tl.constexpr`, which compiles the kernel for each value",
            "Lines 10 and 11: no mask, because all elements are inside in every launch, and promise that "
            "`stride` is a multiple of 8 in every launch",
        ],
    ),
    "a product of two in a line": (
        "index_overflow",
        OFFSETS,
        [
            "Line 9: `values = tl.load(x + tl.cast(rows[:, None], tl.int64) * stride + "
            "columns[None, :] * 2)`",
        ],
    ),
    "a product that two lines have": (
        "index_overflow",
        OFFSETS.replace("rows[:, None] * BLOCK", "rows[:, None] * stride"),
        [
            "Lines 9 and 10: `values = tl.load(x + tl.cast(rows[:, None], tl.int64) * stride + "
            "columns[None, :] * 2)`",
        ],
    ),
    "a loop": (
        "pipelining",
        PRODUCT,
        [
            "Line 6: `N` as `tl.constexpr`, which compiles the kernel for each value",
            "Lines 14 and 16: promise that `N` is a multiple of 8 in every launch",
            "Line 6: `K` as `tl.constexpr`, which compiles the kernel for each value",
            "Lines 12, 13 and 14: promise that `K` is a multiple of 8 in every launch",
            "Line 6: `N` and `K` as `tl.constexpr`, which compiles the kernel for each value",
            "Lines 12, 13, 14 and 16: promise that `N` is a multiple of 8 and `K` is a multiple of 8 "
            "in every launch",
        ],
    ),
}


@pytest.fixture(params=TRITONS)
def compiled(services, request):
    return lambda source: services.queue.complete(Request(source, "cuda:90", request.param))


@pytest.fixture
def found(query_service, compiled):
    return lambda source: json.loads(query_service.answer(findings.QUERY, (compiled(source),), {}))[
        "findings"
    ]


@pytest.mark.parametrize("case", CASES)
def test_changes_that_tell_the_compiler_more_remove_the_finding(query_service, compiled, found, case):
    rule, source, expected = CASES[case]
    finding = next(each for each in found(source) if each["rule"] == rule)
    proven = []
    for change in finding["changes"]:
        lines = edited(source, [LineEdit(each["line"], each["text"]) for each in change["edits"]])
        answer = query_service.answer(finding_changes.QUERY, (compiled(source), compiled(lines)), {})
        document = json.loads(answer)
        vanished = [(each["rule"], each["source_line"]) for each in document["vanished"]]
        if (rule, finding["source_line"]) in vanished and not document["is_worse"]:
            proven.append(change["text"])
    assert proven == expected


def test_a_load_without_a_mask_that_is_always_true_is_wide(query_service, compiled, found):
    """The compiler does not know what the quotient is a multiple of."""
    source = ROWS.replace("offsets < n", "offsets < n // parts").replace("n, BLOCK", "n, parts, BLOCK")
    full = source.replace("1024, 1000,", "1024, 2048, 2,")
    finding = next(each for each in found(full) if each["rule"] == "narrow_accesses")
    change = finding["changes"][0]
    assert change["text"].startswith("Line 10: no mask")
    lines = edited(full, [LineEdit(**each) for each in change["edits"]])
    answer = json.loads(query_service.answer(finding_changes.QUERY, (compiled(full), compiled(lines)), {}))
    assert ("narrow_accesses", 10) in {(each["rule"], each["source_line"]) for each in answer["vanished"]}
    assert not answer["is_worse"]
    partial = source.replace("1024, 1000,", "1024, 2047, 2,")
    for each in found(partial):
        assert not [change for change in each["changes"] if "no mask" in change["text"]]


def test_a_change_compiles_where_an_argument_is_1(compiled, found):
    """The compiler makes the argument a constant, which has no `to`."""
    finding = next(each for each in found(DIVISIONS) if each["rule"] == "wide_divisions")
    (change,) = finding["changes"]
    changed = edited(DIVISIONS, [LineEdit(**each) for each in change["edits"]])
    assert "tl.cast(n, tl.int32)" in changed
    assert compiled(changed.replace("24, 40", "24, 1")).status == "complete"


#: Launches of ROWS whose addresses or masks are not what a promise would say.
ODD = {
    "a bound": {"1024, 1000,": "1024, 1001,"},
    "rows": {"1024, 1000,": "1001, 1000,"},
    "an element before": {
        "x + row * stride + offsets": "x + 1 + row * stride + offsets",
        "1024, 1000": "1000, 1024",
    },
    "the tensor": {"](x, x,": "](x[0, 1:], x,", "1024, 1000": "1000, 1024"},
}


@pytest.mark.parametrize("odd", ODD)
def test_no_promise_that_does_not_hold(found, odd):
    source = ROWS
    for old, new in ODD[odd].items():
        source = source.replace(old, new)
    narrow = next(each for each in found(source) if each["rule"] == "narrow_accesses")
    assert "tl.load" in source.split("\n")[narrow["source_line"] - 1]
    assert not [each for each in narrow["changes"] if each["edits"]]
    assert "multiple_of" not in narrow["advice"]
    assert ("`x` begins at" in narrow["advice"]) == (odd == "the tensor")


def test_a_change_has_no_more_lines_than_a_configuration():
    edits = [LineEdit(line, "pass") for line in range(1, 102)]
    (change,) = line_changes(edits[:100], "pass")
    assert msgspec.convert({"edits": change.edits}, Configuration).edits == tuple(edits[:100])
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"edits": tuple(edits)}, Configuration)
    assert line_changes(edits, "pass") == line_changes([None]) == line_changes([]) == ()


def test_the_cause_of_a_narrow_access_is_the_mask(found):
    source = CASES["a bound of elements of 32 bits"][1]
    narrow = next(each for each in found(source) if each["rule"] == "narrow_accesses")
    assert narrow["cause"].startswith("The compiler can prove only that the mask is equal for 1 ")
