"""Test the queries `registers` and `tensor_registers`."""

import dataclasses
import json
import re
from typing import Any, cast

import pytest
from tritons import TRITONS

from explorer.analysis.occupancy.theoretical import occupancy
from explorer.errors import NotAnswerable
from explorer.model import Diagnostic
from explorer.queries import registers, tensor_registers
from explorer.queries.query import Subject


@pytest.fixture(params=TRITONS)
def matmul(request, query_service, compile_example):
    record = compile_example("matmul", triton=request.param)
    return record, json.loads(query_service.answer(registers.QUERY, (record,), {}))


def test_what_the_assembler_takes_is_explained(matmul):
    record, document = matmul
    assert document["registers"] == record.result.resources.registers
    assert document["most_general"] == max(each["general"] for each in document["instructions"])
    explained = [int(number) for number in re.findall(r"(?:^|; )(\d+) ", document["difference"])]
    assert document["most_general"] + sum(explained) == document["registers"]


def test_instructions_know_their_lines(matmul):
    record, document = matmul
    listing = record.text(record.stage("sass").text).splitlines()
    source = record.request.source.splitlines()
    for each in document["instructions"]:
        assert f"/*{each['address']:04x}*/" in listing[each["line"] - 1]
    products = [each for each in document["instructions"] if "HGMMA" in listing[each["line"] - 1]]
    assert products
    assert any("tl.dot" in source[each["source_line"] - 1] for each in products)


def test_every_instruction_of_the_listing_is_there(query_service, compile_example):
    record = compile_example("vector_add")
    document = json.loads(query_service.answer(registers.QUERY, (record,), {}))
    listing = record.text(record.stage("sass").text).splitlines()
    told = {f"/*{each['address']:04x}*/" for each in document["instructions"]}
    untold = [line for line in listing if ";" in line and not told & set(line.split())]
    # Behind the last EXIT there are only a jump to itself and padding to a line of the cache.
    assert len(told) > 30
    assert all("NOP" in line or "BRA" in line for line in untold)


def test_steps_are_where_a_register_more_means_a_block_less(matmul):
    record, document = matmul
    resources = record.result.resources
    for step in document["steps"][:-1]:
        at, above = (
            occupancy("cuda:90", resources.threads, step["most_registers"] + more, resources.shared_bytes)
            for more in (0, 1)
        )
        assert at.blocks_per_multiprocessor == step["blocks"] > above.blocks_per_multiprocessor


def test_spills_are_marked(query_service, services, compile_example):
    record = compile_example("matmul", target="cuda:80", triton="3.6.0")
    request = dataclasses.replace(record.request, options={"maxnreg": 64})
    document = json.loads(query_service.answer(registers.QUERY, (services.queue.complete(request),), {}))
    assert (document["limit"], document["limited_by"]) == (64, ".maxnreg of the PTX")
    assert document["spill_stores_bytes"] > 0
    assert {"store", "load"} <= {each["spill"] for each in document["instructions"]}


def test_where_no_tool_tells_it_says_why_and_what_the_assembly_states(query_service, compile_example):
    record = compile_example("vector_add", target="hip:gfx942")
    document = json.loads(query_service.answer(registers.QUERY, (record,), {}))
    assert document["instructions"] == []
    assert "gfx942: Triton's package has no tool" in document["reason"]
    facts = {each["name"]: each["value"] for each in document["facts"]}
    assert facts["both together"] == record.result.resources.registers


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942"])
def test_the_accumulator_takes_its_elements_per_thread(query_service, compile_example, target):
    """128 × 128 elements of 32 bits, each held by one thread of the block."""
    record = compile_example("matmul", target=target)
    document = json.loads(query_service.answer(tensor_registers.QUERY, (record,), {}))
    shape = re.compile(r"^(\d+)×(\d+) f32 #mma")
    sizes = {
        (int(found[1]) * int(found[2]) // record.result.resources.threads, each["registers"])
        for each in document["tensors"]
        if (found := shape.match(each["type"])) and each["registers"]
    }
    assert sizes
    assert all(expected == told for expected, told in sizes)
    assert document["most"] == max(document["pressure"])
    lines = record.text(record.stage("ttgir").text).splitlines()
    for each in document["tensors"]:
        line = lines[each["first"] - 1].strip()
        assert each["name"].partition("#")[0] in line or line.startswith("}")


def test_what_a_killed_process_did_not_say_is_asked_again(query_service, compile_example):
    """The error is not stored as an answer."""
    record = compile_example("vector_add")

    class Killed:
        def ask(self, request):
            killed = Diagnostic("error", "The process was killed (SIGKILL).")
            return dataclasses.replace(record, status="failed", entries=(killed,))

    with pytest.raises(NotAnswerable, match="SIGKILL"):
        registers.QUERY.find(Subject((record,), {}, cast(Any, Killed())))
    assert json.loads(query_service.answer(registers.QUERY, (record,), {}))["instructions"]
