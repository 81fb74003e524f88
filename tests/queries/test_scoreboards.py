"""Test the query `scoreboards`."""

import json

import pytest

from explorer.errors import NotAnswerable
from explorer.queries import scoreboards


def test_a_wait_of_machine_code_names_the_lines_that_set_its_scoreboard(query_service, compile_example):
    record = compile_example("vector_add")
    document = json.loads(query_service.answer(scoreboards.QUERY, (record,), {}))
    lines = record.text(record.stage("sass").text).split("\n")
    add = next(number for number, line in enumerate(lines, 1) if " FADD " in line)
    (wait,) = [each for each in document["waits"] if each["line"] == add]
    assert f"B{'-' * int(wait['scoreboard'])}{wait['scoreboard']}" in lines[add - 1]
    loads = [lines[setter["line"] - 1] for setter in wait["setters"]]
    assert loads and all(" LDG" in line and f":W{wait['scoreboard']}:" in line for line in loads)


def test_other_machine_code_has_no_scoreboards(query_service, compile_example):
    with pytest.raises(NotAnswerable, match="no SASS"):
        query_service.answer(scoreboards.QUERY, (compile_example("vector_add", target="hip:gfx942"),), {})
