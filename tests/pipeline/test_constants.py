"""Test other values for the constexpr arguments of a launch."""

import pytest

from explorer.model import Request
from explorer.model.hardware import find_target
from explorer.pipeline.errors import UserError
from explorer.pipeline.module import load
from explorer.pipeline.specialize import resolve

HOPPER = find_target("cuda:90")
COPY = """\
import torch, triton
import triton.language as tl
DECORATOR
@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr, EVEN: tl.constexpr = False):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n), mask=offsets < n)

x = torch.empty(4096, device="cuda")
LAUNCH
"""
TUNED = "@triton.autotune([triton.Config({'BLOCK': 128}), triton.Config({'BLOCK': 256})], key=['n'])"
BY_BLOCKS = "lambda meta: (triton.cdiv(4096, meta['BLOCK']),)"


def resolved(launch, decorator="", **choices):
    source = COPY.replace("DECORATOR", decorator).replace("LAUNCH", launch)
    request = Request(source, "cuda:90", "", **choices)
    return resolve(load(source, HOPPER), request, HOPPER).described


def values(described):
    return {each.name: each.value for each in described.arguments if each.type == "constexpr"}


@pytest.mark.parametrize(
    ("launch", "decorator"),
    [
        (f"copy[{BY_BLOCKS}](x, x, 4096, BLOCK=128)", ""),
        (f"copy[{BY_BLOCKS}](x, x, 4096, 128)", ""),
        (f"copy[{BY_BLOCKS}](x, x, 4096)", TUNED),
    ],
    ids=["by name", "by position", "autotuned"],
)
def test_a_constant_replaces_that_of_the_launch_and_the_grid_follows(launch, decorator):
    assert (values(resolved(launch, decorator)), resolved(launch, decorator).grid) == (
        {"BLOCK": 128, "EVEN": False},
        (32,),
    )
    described = resolved(launch, decorator, constants={"BLOCK": 512, "EVEN": True}, options={"num_warps": 8})
    assert values(described) == {"BLOCK": 512, "EVEN": True}
    assert described.grid == (8,)
    assert described.options["num_warps"] == 8


@pytest.mark.parametrize("grid", ["(32,)", "lambda meta: (triton.cdiv(4096, size),)"])
def test_a_grid_that_does_not_read_the_constants_stays(grid):
    launch = f"size = 128\ncopy[{grid}](x, x, 4096, BLOCK=size)"
    assert resolved(launch, constants={"BLOCK": 256}).grid == (32,)


def test_a_constant_of_guessed_arguments_is_given():
    assert values(resolved("", constants={"BLOCK": 64}))["BLOCK"] == 64


@pytest.mark.parametrize("launch", ["copy[(32,)](x, x, 4096, BLOCK=128)", ""])
def test_only_constexpr_arguments_are_constants(launch):
    with pytest.raises(UserError, match="has no constexpr argument 'n'") as error:
        resolved(launch, constants={"n": 64})
    assert error.value.diagnostic.hint == "It has BLOCK, EVEN."
