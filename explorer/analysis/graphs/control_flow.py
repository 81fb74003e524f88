"""The control flow graph of a program: its basic blocks with their instructions, and its loops.

In: LLVM IR, PTX, SASS or AMDGCN assembly. Out: a graph with a node for each block, and a cluster for each
function and loop.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable

from explorer.analysis.graphs.blocks import Block, Function
from explorer.analysis.graphs.graph import Cluster, Edge, EdgeKind, Graph, Node, NothingToDraw
from explorer.analysis.graphs.long_lines import with_short_lines
from explorer.analysis.graphs.loops import LoopNest, find_loops
from explorer.model.languages import find_language

#: Of a longer block, only the first and the last instructions are shown.
_FIRST_INSTRUCTIONS, _LAST_INSTRUCTIONS = 10, 4


def read_functions(text: str, language: str) -> list[Function]:
    """Read the functions of a text with their basic blocks.

    Raises:
        NothingToDraw: there is none in it.
    """
    read: Callable[[str], list[Function]] = pkgutil.resolve_name(find_language(language).control_flow)
    functions = read(with_short_lines(text))
    if not any(function.blocks for function in functions):
        raise NothingToDraw("The text has no function with instructions.")
    return functions


def control_flow(text: str, language: str) -> Graph:
    """Return the control flow graphs of all functions of a text.

    Raises:
        NothingToDraw: there is none in it.
    """
    nodes: list[Node] = []
    edges: list[Edge] = []
    clusters: list[Cluster] = []
    functions = read_functions(text, language)
    entries: dict[str, str] = {}
    calls: list[tuple[str, str]] = []
    for function in functions:
        nest = find_loops(function.successors())
        own = Cluster(
            f"c{len(clusters)}", "function", function.name, None, function.first_line, function.last_line
        )
        clusters.append(own)
        loops = _loop_clusters(function, nest, own.id, len(clusters))
        clusters.extend(loops)
        first = len(nodes)
        if function.blocks:
            entries[function.name] = f"n{first}"
        for index, block in enumerate(function.blocks):
            loop = nest.innermost[index]
            node = _node(
                block, f"n{first + index}", own.id if loop is None else loops[loop].id, nest.depth(index)
            )
            nodes.append(node)
            entries |= dict.fromkeys(block.labels, node.id)
            calls += [(node.id, each.calls) for each in block.instructions if each.calls]
            for target, condition in function.ways_out(index):
                kind: EdgeKind = "back" if nest.is_back_edge(index, target) else "flow"
                edges.append(Edge(node.id, f"n{first + target}", kind, condition))
    joined = {(edge.tail, edge.head) for edge in edges}
    for tail, name in calls:
        if name in entries and (tail, entries[name]) not in joined:
            edges.append(Edge(tail, entries[name], "call", "call"))
    return Graph(tuple(nodes), tuple(dict.fromkeys(edges)), tuple(clusters))


def _loop_clusters(function: Function, nest: LoopNest, around: str, first: int) -> list[Cluster]:
    members: list[list[int]] = [[] for _ in nest.loops]
    for index, innermost in enumerate(nest.innermost):
        if innermost is not None:
            members[innermost].append(index)
    # An inner loop comes behind the one around it: its blocks are that one's, too.
    for index in range(len(nest.loops) - 1, -1, -1):
        parent = nest.loops[index].parent
        if parent is not None:
            members[parent].extend((min(members[index]), max(members[index])))
    clusters = []
    for index, loop in enumerate(nest.loops):
        blocks = members[index]
        header = function.blocks[loop.header]
        clusters.append(
            Cluster(
                f"c{first + index}",
                "loop",
                f"loop {_title(header)}" + (f", depth {loop.depth}" if loop.depth > 1 else ""),
                around if loop.parent is None else f"c{first + loop.parent}",
                min(function.blocks[each].first_line for each in blocks),
                max(function.blocks[each].last_line for each in blocks),
            )
        )
    return clusters


def _title(block: Block) -> str:
    return block.labels[0].split(" ")[0] if block.labels else f"line {block.first_line}"


def _node(block: Block, identifier: str, cluster: str, loop_depth: int) -> Node:
    texts = [instruction.text for instruction in block.instructions]
    hidden = len(texts) - _FIRST_INSTRUCTIONS - _LAST_INSTRUCTIONS
    if hidden > 1:
        more = f"⋯ {hidden:,} more"
        texts = [*texts[:_FIRST_INSTRUCTIONS], more, *texts[-_LAST_INSTRUCTIONS:]]
    return Node(
        identifier,
        "block",
        (f"{_title(block)}:", *texts),
        block.first_line,
        block.last_line,
        cluster,
        loop_depth,
        len(block.instructions),
    )
