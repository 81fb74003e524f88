"""Test the query `graph`."""

import json

import pytest

from explorer.errors import InvalidRequest, NotAnswerable
from explorer.queries import graph


@pytest.fixture
def ask(query_service, compile_example):
    def ask(example="matmul", target="cuda:90", **parameters):
        record = compile_example(example, target=target)
        return json.loads(query_service.answer(graph.QUERY, (record,), parameters))

    return ask


def test_nodes_know_the_source_lines_they_come_from(ask, compile_example):
    document = ask(stage="ttgir")
    source = compile_example("matmul").request.source.split("\n")
    dot = next(node for node in document["nodes"] if "warp_group_dot " in node["label"][0])
    assert ["tl.dot" in source[line - 1] for line in dot["source_lines"]] == [True]
    assert dot["loop_depth"] == 1


def test_without_a_stage_it_is_the_first_that_can_be_drawn(ask):
    document = ask()
    assert (document["stage"], document["kind"]) == ("ttir", "data flow")


def test_control_flow_of_machine_code(ask):
    document = ask(stage="sass")
    assert document["kind"] == "control flow"
    (loop,) = [part for part in document["parts"] if part["kind"] == "loop"]
    assert any(node["loop_depth"] == 1 for node in document["nodes"])
    part = ask(stage="sass", part=loop["id"])
    assert {node["loop_depth"] for node in part["nodes"]} == {1}
    assert part["parts"] == document["parts"]


def test_the_module_after_a_pass(ask, compile_example):
    record = compile_example("matmul")
    index = next(
        each.index for each in record.result.passes.values() if each.stage == "ttgir" and each.changed
    )
    document = ask(**{"pass": str(index)})
    assert (document["stage"], document["pass_index"]) == ("ttgir", index)
    assert len(document["nodes"]) > 50
    assert ask(stage="ttgir")["pass_index"] is None


def test_a_larger_graph_is_cut_as_far_as_asked_for(ask):
    document = ask(stage="ttgir", most_nodes="40")
    assert len(document["nodes"]) <= 40 < document["total_nodes"]
    assert "more than the limit of 40" in document["cut"]


def test_constants_can_be_left_out(ask):
    labels = [node["label"][0] for node in ask(stage="ttgir", constants="0")["nodes"]]
    assert labels
    assert not any("arith.constant" in label for label in labels)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"stage": "ttgir", "part": "c99"}, "no part 'c99'"),
        ({"pass": "last"}, "must be a whole number"),
        ({"stage": "ttgir", "constants": "no"}, "must be 0 or 1"),
        ({"stage": "ttgir", "most_nodes": "5001"}, "must be a number from 1 to 5000"),
    ],
)
def test_what_is_not_there_is_refused(ask, parameters, words):
    with pytest.raises(InvalidRequest, match=words):
        ask(**parameters)


def test_the_syntax_tree_has_no_graph(ask):
    with pytest.raises(NotAnswerable, match="no graph"):
        ask(stage="ast")
