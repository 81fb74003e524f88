"""Test the queries about the passes of a matmul, in every Triton."""

import itertools
import json

import pytest
from tritons import TRITONS

from explorer.errors import InvalidRequest
from explorer.queries import changes, pass_diff, pass_search


@pytest.fixture(scope="module", params=TRITONS)
def matmul(compile_example, request):
    return compile_example("matmul", triton=request.param)


@pytest.fixture
def ask(query_service, matmul):
    return lambda query, **parameters: json.loads(query_service.answer(query, (matmul,), parameters))


def passes(record, name):
    return [
        index for index, entry in sorted(record.result.passes.items()) if entry.name == name and entry.text
    ]


def test_a_pass_that_makes_constants_anew_changes_nothing_else(matmul, ask):
    """It gives the constants other names and another order."""
    for index in passes(matmul, "sccp"):
        diff = ask(pass_diff.PASS_ALIGNMENT, index=str(index))
        assert diff["operations_added"] == diff["operations_removed"] == 0
        assert diff["operations_moved"] > 5


def test_the_elimination_of_common_subexpressions_only_removes(matmul, ask):
    counts = {row["index"]: row for row in ask(changes.QUERY)}
    first = passes(matmul, "cse")[0]
    assert counts[first]["operations_added"] == 0
    assert counts[first]["operations_removed"] > 5
    text = matmul.text_before_pass(first), matmul.text_after_pass(first)
    operations = [sum(" = " in line for line in each.split("\n")) for each in text]
    assert operations[0] - operations[1] == counts[first]["operations_removed"]


def test_the_lines_of_a_kind_are_lines_of_that_operation(matmul, ask):
    (index,) = passes(matmul, "tritongpu-pipeline")
    texts = [
        matmul.text_before_pass(index).split("\n"),
        matmul.text_after_pass(index).split("\n"),
    ]
    diff = ask(pass_diff.PASS_ALIGNMENT, index=str(index))
    kinds = {kind["name"]: kind for kind in diff["kinds"]}
    assert "ttg.async_copy_global_to_local" in kinds
    for name, kind in kinds.items():
        for text, lines in zip(texts, (kind["before_lines"], kind["after_lines"]), strict=True):
            assert all(name in text[line - 1] for line in lines)
    added = sum(len(kind["after_lines"]) for kind in kinds.values())
    assert added == diff["operations_added"] + diff["operations_moved"]


def test_a_search_names_the_passes_in_which_a_text_appears_and_vanishes(matmul, ask):
    found = ask(pass_search.QUERY, text="Warp_Group_Dot ")
    names = [matmul.compiler_pass(row["index"]).name for row in found]
    assert names[0] == "tritongpu-accelerate-matmul"
    assert found[0]["before"] == 0
    line = matmul.text_after_pass(found[0]["index"]).split("\n")[found[0]["line"] - 1]
    assert "ttng.warp_group_dot " in line
    assert found[-1]["after"] == found[-1]["line"] == 0
    assert all(one["after"] == other["before"] for one, other in itertools.pairwise(found))
    assert ask(pass_search.QUERY, text="no such operation") == ask(pass_search.QUERY) == []


@pytest.mark.parametrize("text", ["x" * 201, "a\nb"])
def test_a_text_that_no_line_can_have_is_refused(query_service, matmul, text):
    with pytest.raises(InvalidRequest, match="at most 200 characters"):
        query_service.answer(pass_search.QUERY, (matmul,), {"text": text})
