"""Test that the interpreter's counts and the static work define operations in the same way."""

import math

import pytest

from explorer.analysis.roofline.static_work import static_work
from explorer.examples import find_example
from explorer.model import Request
from explorer.model.hardware import find_target

ATOMIC = """
import torch
import triton
import triton.language as tl


@triton.jit
def histogram(x_ptr, sums_ptr, most_ptr, count_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.atomic_add(sums_ptr + offsets % 8, x * x)
    tl.atomic_max(most_ptr, tl.max(tl.abs(x)).to(tl.int32))
    tl.atomic_add(count_ptr, BLOCK)


x = torch.randn(128, device="cuda")
histogram[(2,)](
    x,
    torch.zeros(8, device="cuda"),
    torch.zeros(1, device="cuda", dtype=torch.int32),
    torch.zeros(1, device="cuda", dtype=torch.int32),
    BLOCK=64,
)
"""
#: Sizes of examples, and the interpreted sizes in their place: fewer programs, each with the same work.
SIZES = {
    "vector_add": ("(1_000_000,", "(100_000,"),
    "copy_coalesced_strided": ("(4_194_304,", "(262_144,"),
    "softmax": ("(4096, 2000,", "(256, 2000,"),
    "reduction": ("(1024, 32768,", "(64, 32768,"),
    "layer_norm": ("(4096, 4096,", "(256, 4096,"),
    "matmul": ("(2048, 2048,", "(512, 512,"),
    "convolution_2d": ("(8, 56, 56, 64,", "(2, 56, 56, 64,"),
}


def example(name):
    source, (size, smaller) = find_example(name).source, SIZES[name]
    assert size in source
    return source.replace(size, smaller)


SOURCES = {name: example(name) for name in SIZES} | {"atomic": ATOMIC}


@pytest.mark.nightly
@pytest.mark.parametrize("name", SOURCES)
def test_both_count_the_same_operations(interpret, services, name):
    """Padding counts in both, so that operations are equal; bytes are an upper bound if a load is masked."""
    source = SOURCES[name]
    told = interpret(source, measures=("counts",), with_head=False)
    launch = told.launch
    compiled = services.queue.complete(
        Request(source, "cuda:90", services.triton_version(None), kernel=launch["kernel"])
    )
    scalars = {
        each["name"]: each["value"] for each in launch["arguments"] if isinstance(each.get("value"), int)
    }
    ttir = compiled.text(compiled.stage("ttir").text)
    static = static_work(ttir, launch["kernel"], launch["grid"], scalars, find_target("cuda:90"))
    assert static.reason == ""
    counts = told.counts
    share = counts["programs"] / math.prod(launch["grid"])
    assert {name: share * count for name, count in static.operations.items()} == counts["flops"]
    requested = counts["loaded_bytes"] + counts["stored_bytes"]
    if static.is_masked:
        assert share * static.requested_bytes >= requested
    else:
        assert share * static.requested_bytes == requested
