"""Test the interpreter's counts against the counters of an H200 in proton_profiles/.

The L1's traffic is that of the sectors that loads and stores ask for, whatever is cached. Benchmarks are
interpreted at sizes whose programs repeat themselves in the sizes that were recorded.
"""

import json
from pathlib import Path

import pytest

from explorer.examples import find_example

RECORDINGS = Path(__file__).parents[3] / "proton_profiles"
SECTOR_BYTES = 32


def recorded(example, kernel=None, config=None):
    """The documents of a recorded run of the example's benchmark."""
    recording = json.loads((RECORDINGS / f"{example}.json").read_text(encoding="utf-8"))
    (run,) = [
        run["measurements"]
        for run in recording["runs"]
        if kernel in (None, run["measurements"]["launch"]["kernel"])
        and run["measurements"]["launch"]["config"] == config
    ]
    return run


def programs(launch):
    x, y, z = launch["grid"]
    return x * y * z


def requested_bytes(told, operation):
    return SECTOR_BYTES * told.operation(operation)["sectors"]


@pytest.mark.parametrize(
    ("example", "kernel", "sizes"),
    [
        ("vector_add", None, {"size": 65536}),
        ("dropout", None, {"size": 65536}),
        ("copy_coalesced_strided", "copy_coalesced_kernel", {"size": 65536}),
        ("copy_coalesced_strided", "copy_strided_kernel", {"size": 65536}),
        ("softmax", None, {"rows": 64}),
        ("layer_norm", None, {"rows": 64}),
        ("reduction", None, {"rows": 16}),
        ("convolution_2d", None, {"images": 2}),
    ],
)
def test_sectors_are_those_of_the_hardware(interpret, example, kernel, sizes):
    measured = recorded(example, kernel)
    told = interpret(
        find_example(example).source,
        with_head=False,
        is_benchmark=True,
        sizes=sizes,
        measures=("counts",),
        request={"kernel": measured["launch"]["kernel"]},
    )
    repeats, rest = divmod(programs(measured["launch"]), programs(told.launch))
    assert rest == 0 and repeats > 1
    counted = requested_bytes(told, "load") + requested_bytes(told, "store")
    assert repeats * counted == measured["counters"]["bytes"]["l1"]


def test_a_product_reads_and_computes_what_the_hardware_does(interpret):
    """At 512 instead of 8192: 16 × 16 times fewer tiles, each with 16 times fewer steps along K."""
    measured = recorded("matmul", config=0)["counters"]
    told = interpret(
        find_example("matmul").source,
        with_head=False,
        is_benchmark=True,
        sizes={"size": 512},
        measures=("counts",),
        request={"config": 0},
    )
    assert 16**3 * told.counts["flops"]["tensor fp16"] == measured["operations"]["tensor fp16"] == 2 * 8192**3
    read, written = requested_bytes(told, "load"), requested_bytes(told, "store")
    assert 16**3 * read + 16**2 * written == measured["bytes"]["l1"]


def test_additions_are_those_of_the_hardware(interpret):
    told = interpret(
        find_example("vector_add").source, with_head=False, is_benchmark=True, measures=("counts",)
    )
    measured = recorded("vector_add")
    repeats = programs(measured["launch"]) // programs(told.launch)
    assert repeats * told.counts["flops"]["fp32"] == measured["counters"]["operations"]["fp32"]
