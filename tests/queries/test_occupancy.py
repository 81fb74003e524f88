"""Test the query `occupancy` on real kernels."""

import json
import re

import pytest
from tritons import TRITONS

from explorer.analysis.occupancy.theoretical import occupancy as fitting
from explorer.errors import InvalidRequest, NotAnswerable
from explorer.queries import occupancy


@pytest.fixture
def ask(query_service, compile_example):
    def ask(example="matmul", target="cuda:90", triton=None, **parameters):
        record = compile_example(example, target=target, triton=triton)
        return json.loads(query_service.answer(occupancy.QUERY, (record,), parameters))

    return ask


@pytest.mark.parametrize("triton", TRITONS)
def test_a_matmul_fits_twice_by_registers_and_by_shared_memory(ask, triton):
    document = ask(triton=triton)
    found = document["occupancy"]
    assert document["shared_bytes"] == 98_304
    assert (found["share"], found["blocks_per_multiprocessor"], found["active_warps"]) == (0.25, 2, 16)
    assert (found["limits"]["registers"], found["limits"]["shared_memory"]) == (2, 2)
    assert document["blocks_per_program"] == 1


def test_curves_pass_through_what_the_kernel_takes(ask):
    document = ask()
    for curve in document["curves"]:
        last = [step for step in curve["steps"] if step["value"] <= curve["now"]][-1]
        assert last["share"] == document["occupancy"]["share"], curve["resource"]
    # Both limit it: less of one alone changes nothing.
    better = {curve["resource"]: curve["better"] for curve in document["curves"]}
    assert better["registers"] is None
    assert better["shared memory"] is None


def test_what_the_next_step_needs_is_the_most_that_reaches_it(ask):
    document = ask("flash_attention", target="cuda:80")
    threads, now = document["threads"], document["occupancy"]["share"]
    taken = {"registers": document["registers"], "shared memory": document["shared_bytes"]}
    for curve in document["curves"]:
        if curve["resource"] not in taken or curve["better"] is None:
            continue
        for more, expected in ((0, True), (1, False)):
            step = 128 if curve["unit"] == "bytes" else 1
            need = {**taken, curve["resource"]: curve["better"]["value"] + more * step}
            found = fitting("cuda:80", threads, need["registers"], need["shared memory"])
            assert (found.share > now) == expected


def test_the_grid_of_the_launch_makes_waves(ask):
    document = ask()
    blocks = 1
    for part in document["grid"]:
        blocks *= part
    assert document["multiprocessors"] == 132
    assert document["waves"]["blocks"] == blocks
    assert document["waves"]["at_once"] == 264
    assert ask(grid="529")["waves"] == {
        "blocks": 529, "at_once": 264, "waves": 3, "tail": 1, "used_share": 529 / 792,
    }  # fmt: skip
    assert ask(grid="16,2", multiprocessors="8")["waves"]["waves"] == 2


TENSOR = re.compile(r"\b(?:[HIQ]GMMA|HMMA|UTC[HIQ]MMA)\b")


def loops_with_products(listing):
    """Read them independently: ways back over instructions of the matrix units, with no such way inside.

    Each is the lines of its products, counted from 1.
    """
    labels = {
        line[:-1]: number
        for number, line in enumerate(listing)
        if line.startswith(".L") and line.endswith(":")
    }
    spans = []
    for end, line in enumerate(listing):
        branch = re.search(r"BRA\S*\s.*`\((\.L\w+)\)", line)
        start = labels.get(branch[1], end) if branch else end
        if start < end and any(map(TENSOR.search, listing[start:end])):
            spans.append((start, end))
    inner = [
        (start, end)
        for start, end in spans
        if not any(start <= one and other <= end and (one, other) != (start, end) for one, other in spans)
    ]
    return {
        frozenset(number + 1 for number in range(start, end) if TENSOR.search(listing[number]))
        for start, end in inner
    }


@pytest.mark.parametrize("triton", TRITONS)
@pytest.mark.parametrize("target", ["cuda:90", "cuda:100"])
@pytest.mark.parametrize(
    "example", ["matmul", "matmul_descriptors", "matmul_persistent", "flash_attention", "convolution_2d"]
)
def test_the_main_loop_of_a_matrix_kernel_has_its_products(ask, compile_example, example, target, triton):
    mix = ask(example, target=target, triton=triton)["mix"]
    record = compile_example(example, target=target, triton=triton)
    listing = record.text(record.stage("sass").text).split("\n")
    tensor = next(row for row in mix["rows"] if row["kind"] == "tensor")
    assert tensor["total"] == sum(map(bool, map(TENSOR.search, listing)))
    main = mix["loops"][0]
    inside = {line for first, last in main["ranges"] for line in range(first, last + 1)}
    (products,) = {lines for lines in loops_with_products(listing) if lines <= inside}
    assert tensor["in_loops"][0] == len(products) > 0
    assert sum(row["in_loops"][0] for row in mix["rows"]) == main["instructions"] > 20


def test_the_mix_counts_every_instruction_and_knows_the_loop(ask, compile_example):
    mix = ask()["mix"]
    record = compile_example("matmul")
    listing = record.text(record.stage("sass").text).split("\n")
    assert mix["total"] == sum("/*" in line for line in listing) == sum(row["total"] for row in mix["rows"])
    (first, last), *_ = mix["loops"][0]["ranges"]
    inside = listing[first - 1 : last]
    copies = [row for row in mix["rows"] if row["space"] == "global to shared"]
    assert [(row["bits"], row["in_loops"][0]) for row in copies] == [
        (128, sum("LDGSTS" in each for each in inside))
    ]


def test_amd_has_a_mix_too(ask):
    mix = ask(target="hip:gfx942")["mix"]
    assert {"tensor", "memory", "synchronization"} <= {
        row["kind"] for row in mix["rows"] if row["in_loops"][0]
    }


@pytest.mark.parametrize(
    "parameters", [{"grid": "a"}, {"grid": "0"}, {"grid": "1,2,3,4"}, {"multiprocessors": "0"}]
)
def test_what_is_no_grid_is_refused(ask, parameters):
    with pytest.raises(InvalidRequest):
        ask(**parameters)


def test_without_a_binary_there_is_no_occupancy(query_service, services):
    from explorer.model import Request

    source = "import triton\n\n\n@triton.jit\ndef kernel(a):\n    a +\n"
    record = services.queue.complete(Request(source, "cuda:90", services.triton_version(None)))
    with pytest.raises(NotAnswerable, match="of the binary are unknown"):
        query_service.answer(occupancy.QUERY, (record,), {})
