"""Live registers along the machine code."""

import json

import pytest

from explorer.analyses import registers
from explorer.errors import NotAnswerable


@pytest.mark.parametrize("triton", ["3.9.0", "3.6.0"])
def test_the_most_live_registers_fit_into_those_of_the_assembler(analyst, compile_example, triton):
    record = compile_example("matmul", triton=triton)
    document = json.loads(analyst.answer(registers.ANALYSIS, record, {}))
    assert document["registers"] == record.result.resources.registers
    assert document["registers"] * 0.9 <= document["most_general"] <= document["registers"]


def test_every_instruction_of_the_listing_is_there(analyst, compile_example):
    record = compile_example("vector_add")
    document = json.loads(analyst.answer(registers.ANALYSIS, record, {}))
    listing = record.text(record.stage("sass").text).splitlines()
    told = {f"/*{each['address']:04x}*/" for each in document["instructions"]}
    untold = [line for line in listing if ";" in line and not told & set(line.split())]
    # Behind the last EXIT there are only a jump to itself and what fills the last line of the cache.
    assert len(told) > 30
    assert all("NOP" in line or "BRA" in line for line in untold)


def test_amd_has_no_tool_that_tells(analyst, compile_example):
    record = compile_example("vector_add", target="hip:gfx942")
    with pytest.raises(NotAnswerable, match="gfx942: no tool"):
        analyst.answer(registers.ANALYSIS, record, {})
