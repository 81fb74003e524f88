"""Test which operations are folded as address arithmetic, on texts whose data flow is known."""

import re

import pytest

from explorer.analysis.graphs import data_flow, to_dot, without_addresses, without_constants

COPY = """\
tt.func public @copy(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32, %k: f32) {
  %c64 = arith.constant 64 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %c64 : i32
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %starts = tt.splat %start : i32 -> tensor<64xi32>
  %offsets = arith.addi %starts, %range : tensor<64xi32>
  %bound = tt.splat %n : i32 -> tensor<64xi32>
  %mask = arith.cmpi slt, %offsets, %bound : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %from = tt.addptr %xs, %offsets : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %value = tt.load %from, %mask : tensor<64x!tt.ptr<f32>>
  %factor = tt.splat %k : f32 -> tensor<64xf32>
  %scaled = arith.mulf %value, %factor : tensor<64xf32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %to = tt.addptr %ys, %offsets : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %to, %scaled, %mask : tensor<64x!tt.ptr<f32>>
  tt.return
}
"""
LOOP = """\
tt.func public @sum(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %total:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero, %p = %x) -> (f32, !tt.ptr<f32>) : i32 {
    %value = tt.load %p : !tt.ptr<f32>
    %added = arith.addf %sum, %value : f32
    %step = arith.muli %c1, %c1 : i32
    %next = tt.addptr %p, %step : !tt.ptr<f32>, i32
    scf.yield %added, %next : f32, !tt.ptr<f32>
  }
  tt.store %y, %total#0 : !tt.ptr<f32>
  tt.return
}
"""
GATHER = """\
tt.func public @gather(%x: !tt.ptr<f32>, %i: !tt.ptr<i32>, %y: !tt.ptr<f32>, %s: i32) {
  %index = tt.load %i : !tt.ptr<i32>
  %row = arith.muli %index, %s : i32
  %from = tt.addptr %x, %row : !tt.ptr<f32>, i32
  %value = tt.load %from : !tt.ptr<f32>
  tt.store %y, %value : !tt.ptr<f32>
  tt.return
}
"""
RANDOM = """\
tt.func public @noise(%y: !tt.ptr<i32>, %s: i32) {
  %pid = tt.get_program_id x : i32
  %at = arith.muli %pid, %s : i32
  %to = tt.addptr %y, %at : !tt.ptr<i32>, i32
  %noise = arith.xori %at, %s : i32
  tt.store %to, %noise : !tt.ptr<i32>
  tt.return
}
"""


def names(graph):
    return {re.split(r" = | ", node.label[0])[0] for node in graph.nodes if node.kind != "address"}


def addresses(graph):
    return {node.label[0]: node for node in graph.nodes if node.kind == "address"}


def test_each_access_has_one_node_and_what_it_shares_another():
    graph = without_addresses(data_flow(COPY))
    assert names(graph) == {"%x", "%y", "%k", "%value", "%factor", "%scaled", "tt.store", "tt.return"}
    assert addresses(graph).keys() == {"shared index arithmetic", "address of %value", "address of tt.store"}
    edges = {(edge.tail, edge.head) for edge in graph.edges}
    nodes = {node.label[0].split(" ")[0]: node.id for node in graph.nodes if node.kind != "address"}
    for title, access in (("address of %value", "%value"), ("address of tt.store", "tt.store")):
        assert (addresses(graph)[title].id, nodes[access]) in edges
    assert all(tail != head for tail, head in edges)


def test_a_folded_node_knows_its_operations_and_counts_them():
    graph = data_flow(COPY)
    shared = addresses(without_addresses(graph))["shared index arithmetic"]
    assert "%mask = arith.cmpi slt, %offsets, %bound" in shared.parts
    assert len(shared.parts) == 9  # eight operations and the argument %n
    assert shared.operations == 8
    before = sum(node.operations for node in graph.nodes)
    assert sum(node.operations for node in without_addresses(graph).nodes) == before


def test_a_pointer_that_a_loop_moves_is_folded_and_its_sum_is_not():
    graph = without_addresses(data_flow(LOOP))
    assert {"%sum", "%value", "%added", "scf.yield", "tt.store"} <= names(graph)
    assert not {"%p", "%next", "%step", "%i"} & (names(graph) - {"%i"})
    assert "address of %value" in addresses(graph)


def test_an_address_that_depends_on_data_is_part_of_the_path():
    graph = without_addresses(data_flow(GATHER))
    assert {"%index", "%row", "%from", "%value"} <= names(graph)


def test_an_index_that_is_also_data_is_not_folded():
    graph = without_addresses(data_flow(RANDOM))
    assert {"%pid", "%at", "%noise"} <= names(graph)


def test_drawn_labels_have_names_and_types_without_operands():
    dot = to_dot(without_constants(without_addresses(data_flow(COPY))))
    assert "%value = tt.load\\l64 f32\\l" in dot
    assert "tt.store\\l64 f32\\l" in dot
    assert "address of %value\\l2 operations\\l" in dot
    assert 'class="operation load"' in dot


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("%a = tt.dot %x, %y, %z : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32, #mma>",
         "%a = tt.dot\\l64×64 f32 #mma\\l"),
        ("%a = ttg.local_alloc : () -> !ttg.memdesc<3x64x32xf16, #shared, #smem, mutable>",
         "%a = ttg.local_alloc\\l3×64×32 f16 #shared\\l"),
        ("%a = arith.constant dense<0.0> : tensor<64xf32>", "%a = arith.constant dense<0.0>\\l64 f32\\l"),
        ("%a = arith.truncf %b : tensor<64xf32> to tensor<64xf16>", "%a = arith.truncf\\l64 f16\\l"),
    ],
)  # fmt: skip
def test_types_are_short(line, shown):
    assert shown in to_dot(data_flow(f"tt.func @f() {{\n  {line}\n}}\n"))
