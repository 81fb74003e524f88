"""Test the data flow of known and of malformed texts."""

import time

import pytest

from explorer.analysis.graphs import NothingToDraw, at_most, data_flow, part_of, to_dot, without_constants

LOOP = """\
module {
  tt.func public @sum(%n: i32, %p: !tt.ptr<f32>) -> f32 {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1 : i32
    %total:2 = scf.for %i = %one to %n step %one iter_args(%sum = %zero, %q = %p) -> (f32, P)  : i32 {
      %value = tt.load %q : !tt.ptr<f32>
      %next = arith.addf %sum, %value : f32
      %r = tt.addptr %q, %one : !tt.ptr<f32>, i32
      scf.yield %next, %r : f32, !tt.ptr<f32>
    }
    %is_large = arith.cmpf ogt, %total#0, %zero : f32
    %chosen = scf.if %is_large -> (f32) {
      scf.yield %total#0 : f32
    } else {
      scf.yield %zero : f32
    }
    tt.return %chosen : f32
  }
}
"""


def edges_by_label(graph):
    names = {node.id: node.label[0].split(" = ")[0].split(" ")[0] for node in graph.nodes}
    return {(names[edge.tail], names[edge.head], edge.kind) for edge in graph.edges}


def test_a_loop_hands_values_to_its_next_turn_and_to_what_follows():
    edges = edges_by_label(data_flow(LOOP))
    assert {
        ("%zero", "%sum", "initial"),
        ("%p", "%q", "initial"),
        ("scf.yield", "%sum", "carried"),
        ("scf.yield", "%q", "carried"),
        ("%sum", "%next", "value"),
        ("%next", "scf.yield", "value"),
        ("%total:2", "%i", "value"),
        ("%n", "%total:2", "value"),
        ("scf.yield", "%is_large", "value"),
    } <= edges
    assert ("%total:2", "%is_large", "value") not in edges


def test_a_branch_yields_from_both_sides():
    graph = data_flow(LOOP)
    user = next(node for node in graph.nodes if node.label[0].startswith("tt.return"))
    makers = {edge.tail for edge in graph.edges if edge.head == user.id}
    assert {node.first_line for node in graph.nodes if node.id in makers} == {13, 15}


def test_regions_are_clusters():
    graph = data_flow(LOOP)
    rows = [
        (cluster.kind, cluster.label, cluster.first_line, cluster.last_line) for cluster in graph.clusters
    ]
    assert rows == [
        ("function", "sum", 2, 18),
        ("loop", "scf.for", 5, 10),
        ("region", "scf.if", 12, 16),
        ("region", "then", 12, 14),
        ("region", "else", 14, 16),
    ]
    depths = {node.first_line: node.loop_depth for node in graph.nodes}
    assert depths[7] == 1
    assert depths[11] == 0


def test_a_while_loop_decides_hands_on_and_comes_back():
    text = """\
tt.func @f(%n: i32) -> i32 {
  %last = scf.while (%k = %n) : (i32) -> i32 {
    %go = arith.cmpi slt, %k, %n : i32
    scf.condition(%go) %k : i32
  } do {
  ^bb0(%inside: i32):
    %more = arith.addi %inside, %n : i32
    scf.yield %more : i32
  }
  tt.return %last : i32
}
"""
    edges = edges_by_label(data_flow(text))
    assert ("%n", "%k", "initial") in edges
    assert ("scf.condition(%go)", "%inside", "passed") in edges
    assert ("scf.yield", "%k", "carried") in edges
    assert ("scf.condition(%go)", "tt.return", "value") in edges


def test_jumps_pass_values_to_blocks():
    text = """\
tt.func @f(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^bb1(%x : i32), ^bb2
^bb1(%y: i32):
  cf.br ^bb2
^bb2:
  tt.return %y : i32
}
"""
    edges = edges_by_label(data_flow(text))
    assert ("cf.cond_br", "%y", "passed") in edges
    assert ("%c", "cf.cond_br", "value") in edges
    assert ("%x", "cf.cond_br", "value") not in edges


def test_names_of_one_region_are_not_those_of_another():
    text = """\
"tt.f"() ({
  %a = "tt.one"() : () -> i32
  "tt.use"(%a) : (i32) -> ()
}) : () -> ()
"tt.f"() ({
  %a = "tt.two"() : () -> i32
  "tt.use"(%a) : (i32) -> ()
}) : () -> ()
"""
    graph = data_flow(text)
    lines = {node.id: node.first_line for node in graph.nodes}
    assert {(lines[edge.tail], lines[edge.head]) for edge in graph.edges} == {(2, 3), (6, 7)}


def test_constants_can_be_left_out():
    graph = without_constants(data_flow(LOOP))
    assert not any("arith.constant" in node.label[0] for node in graph.nodes)
    assert {edge.tail for edge in graph.edges} <= {node.id for node in graph.nodes}


def test_a_part_alone():
    graph = data_flow(LOOP)
    loop = next(cluster for cluster in graph.clusters if cluster.kind == "loop")
    part = part_of(graph, loop.id)
    assert {node.first_line for node in part.nodes} == {5, 6, 7, 8, 9}
    assert [cluster.parent for cluster in part.clusters] == [None]
    assert part_of(graph, "c99") is None


def test_inner_parts_are_folded_first():
    cut = at_most(data_flow(LOOP), 12)
    summary = [node for node in cut.graph.nodes if node.kind == "summary"]
    assert len(cut.graph.nodes) <= 12
    assert "drawn as one node" in cut.words
    assert all(node.operations >= 1 for node in summary)
    known = {node.id for node in cut.graph.nodes}
    assert {end for edge in cut.graph.edges for end in (edge.tail, edge.head)} <= known


@pytest.mark.slow
def test_a_hundred_thousand_operations_are_cut_in_words():
    lines = [f"  %v{i} = arith.addi %v{i - 1}, %v{i - 1} : i32" for i in range(100_000)]
    text = "tt.func @f(%v-1: i32) {\n" + "\n".join(lines) + "\n}\n"
    start = time.monotonic()
    graph = data_flow(text)
    assert len(graph.nodes) == 100_001
    cut = at_most(graph, 5000)
    assert len(cut.graph.nodes) == 5000
    assert cut.words.startswith(
        "The graph has 100,001 nodes, more than the limit of 5,000: only the first 5,000"
    )
    assert to_dot(cut.graph).count(" -> ") == 4999
    assert time.monotonic() - start < 60


@pytest.mark.parametrize("end", range(0, len(LOOP), 61))
def test_a_truncated_module_is_drawn_as_far_as_it_goes(end):
    text = LOOP[:end]
    try:
        graph = data_flow(text)
    except NothingToDraw:
        assert "= arith" not in text
        return
    assert to_dot(graph).startswith("digraph")


@pytest.mark.parametrize(
    "text", ["", "\n\n", "}}}}", "module {\n}\n", "#a = #ttg.b<{}>\n", "(((((", "%a = ", "^bb0:\n"]
)
def test_without_operations_there_is_nothing_to_draw(text):
    with pytest.raises(NothingToDraw, match="no operation"):
        data_flow(text)


@pytest.mark.slow
def test_deep_nesting_is_drawn():
    text = "scf.if %a {\n" * 5000 + "tt.f %a : i32\n" + "}\n" * 5000
    graph = data_flow(text)
    assert len(graph.nodes) == 5001
    assert len(graph.clusters) <= 40
    to_dot(graph)


def test_labels_hold_texts_and_nothing_else():
    text = 'tt.elementwise_inline_asm "<b>\\"];evil[label=\\n</b>\\N\x01" : i32\n'
    dot = to_dot(data_flow(text))
    label = next(line for line in dot.splitlines() if line.lstrip().startswith("n0 "))
    assert label.count('"') - label.count('\\"') == 2  # one string, and its end is the last quote
    assert "\\\\N" in label  # no name of a node in the place of a text
    assert "\x01" not in label
