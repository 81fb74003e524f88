"""Test the control flow of known and of malformed texts."""

import contextlib
import time

import pytest

from explorer.analysis.graphs import NothingToDraw, control_flow, graph_of, to_dot

LLVM = """\
define void @kernel(i32 %n) {
  %1 = icmp sgt i32 %n, 0
  br i1 %1, label %loop, label %done, !dbg !5

loop:                                             ; preds = %loop, %0
  %2 = add i32 %n, 1
  switch i32 %2, label %loop [
    i32 0, label %done
    i32 7, label %"odd name"
  ]

"odd name":
  unreachable

done:
  ret void
}
"""
PTX = """\
.visible .entry kernel(
	.param .u32 n
)
{
	.reg .pred %p<2>;
	setp.lt.s32 %p1, %r1, 0;
	@%p1 bra $L__BB0_2;
	// begin inline asm
	{
	.reg .pred complete;
	waitLoop:
	mbarrier.try_wait.parity.shared.b64 complete, [%r1], %r2;
	@!complete bra.uni waitLoop;
	}
	{
	waitLoop:
	@!complete bra.uni waitLoop;
	}
	// end inline asm
$L__BB0_2:
	mov.b64 %rd1, {%r1, %r2};
	ret;
}
"""
SASS = """\
.text.kernel:
B------:R-:W-:-:S01  /*0000*/  ISETP.GE.AND P0, PT, R1, RZ, PT ;
B------:R-:W-:-:S01  /*0010*/  @P0 EXIT ;
.L_x_0:
B------:R-:W-:-:S01  /*0020*/  BRA.U !UP0, `(.L_x_0) ;
B------:R-:W-:-:S01  /*0030*/  CALL.REL.NOINC `($__internal_0_$__helper) ;
B------:R-:W-:-:S01  /*0040*/  EXIT ;
$__internal_0_$__helper:
B------:R-:W-:-:S01  /*0050*/  RET.REL.NODEC R2 `(kernel) ;
"""
AMDGCN = """\
	.type	kernel,@function
kernel:                                 ; @kernel
; %bb.0:
	s_cmp_lt_i32 s0, 1
	s_cbranch_scc1 .LBB0_2
.LBB0_1:                                ; =>This Inner Loop Header: Depth=1
	s_add_i32 s0, s0, -1
	s_cbranch_scc0 .LBB0_1
.LBB0_2:
	s_endpgm
.Lfunc_end0:
	.section	.rodata
amdhsa.kernels:
  - .args:
"""


def rows(graph):
    """Return the edges as first lines of their nodes, kind and condition."""
    lines = {node.id: node.first_line for node in graph.nodes}
    return sorted((lines[edge.tail], lines[edge.head], edge.kind, edge.label) for edge in graph.edges)


def test_llvm():
    graph = control_flow(LLVM, "llir")
    assert rows(graph) == [
        (2, 5, "flow", "%1"),
        (2, 15, "flow", "!%1"),
        (5, 5, "back", "else"),
        (5, 12, "flow", "7"),
        (5, 15, "flow", "0"),
    ]
    assert [node.operations for node in graph.nodes] == [2, 2, 1, 1]
    assert graph.nodes[0].label == (
        "line 2:",
        "%1 = icmp sgt i32 %n, 0",
        "br i1 %1, label %loop, label %done",
    )


def test_ptx_with_labels_of_inline_assembly():
    graph = control_flow(PTX, "ptx")
    assert rows(graph) == [
        (6, 11, "flow", "!%p1"),
        (6, 20, "flow", "%p1"),
        (11, 11, "back", "!complete"),
        (11, 16, "flow", "complete"),
        (16, 16, "back", "!complete"),
        (16, 20, "flow", "complete"),
    ]
    assert [node.label[0] for node in graph.nodes] == ["line 6:", "waitLoop:", "waitLoop:", "$L__BB0_2:"]
    assert [cluster.label for cluster in graph.clusters if cluster.kind == "loop"] == ["loop waitLoop"] * 2


def test_sass_with_a_helper():
    graph = control_flow(SASS, "sass")
    assert rows(graph) == [
        (2, 4, "flow", "!P0"),
        (4, 4, "back", "!UP0"),
        (4, 6, "flow", "UP0"),
        (6, 9, "call", "call"),
    ]
    assert [cluster.label for cluster in graph.clusters] == [
        "kernel",
        "loop .L_x_0",
        "$__internal_0_$__helper",
    ]


def test_amdgcn_ends_where_the_function_ends():
    graph = control_flow(AMDGCN, "amdgcn")
    assert rows(graph) == [
        (4, 6, "flow", "!scc1"),
        (4, 9, "flow", "scc1"),
        (6, 6, "back", "scc0"),
        (6, 9, "flow", "!scc0"),
    ]
    assert [node.loop_depth for node in graph.nodes] == [0, 1, 0]


def test_long_blocks_show_their_beginning_and_their_end():
    body = "".join(f"  %{i} = add i32 {i}, 1\n" for i in range(100))
    (node,) = control_flow(f"define void @f() {{\n{body}  ret void\n}}\n", "llir").nodes
    assert node.operations == 101
    assert "⋯ 87 more" in node.label
    assert node.label[-1] == "ret void"
    assert (node.first_line, node.last_line) == (2, 102)


TEXTS = {"llir": LLVM, "ptx": PTX, "sass": SASS, "amdgcn": AMDGCN}


@pytest.mark.parametrize("language", TEXTS)
def test_truncated_texts_are_drawn_as_far_as_they_go(language):
    text = TEXTS[language]
    for end in range(0, len(text), 17):
        try:
            graph = control_flow(text[:end], language)
        except NothingToDraw:
            continue
        known = {node.id for node in graph.nodes}
        assert {end for edge in graph.edges for end in (edge.tail, edge.head)} <= known
        to_dot(graph)


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("text", ["", "nonsense\n" * 10, "{\n" * 3000, "}\n" * 10, ": : :\n", "\x00"])
def test_without_a_function_there_is_nothing_to_draw(language, text):
    with pytest.raises(NothingToDraw, match="no function"):
        control_flow(text, language)


@pytest.mark.parametrize(
    ("language", "head", "part"),
    [
        ("llir", "define void @f() {\n  %1 = add i32 1, 1", ", !a !1"),
        ("llir", "define void @f() {\n  ret void", ' ; "'),
        ("ptx", ".entry f() {\n", "a;"),
        ("ptx", "", ".func("),
        ("sass", ".text.f:\n", "/*0*/ "),
        ("amdgcn", "\t.type f,@function\nf:\n", " s_nop"),
    ],
)
def test_a_line_of_a_million_characters_is_read_in_no_time(language, head, part):
    text = head + part * (1_000_000 // len(part))
    start = time.monotonic()
    with contextlib.suppress(NothingToDraw):
        to_dot(control_flow(text, language))
    assert time.monotonic() - start < 10


def test_the_syntax_tree_has_no_graph():
    with pytest.raises(NothingToDraw, match="python-ast has no graph"):
        graph_of("FunctionDef", "python-ast")
