"""Fold address arithmetic: the operations that only compute the address of an access become one node of it.

In: a data flow graph. Out: the graph of loads, computation and stores. An operation is folded if everything
that uses it, directly or through other folded operations, is the address or the mask of an access, or a bound
or a condition of control flow. An operation that depends on loaded data is never folded.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from explorer.analysis.graphs.graph import Edge, Graph, Node, operation_name

#: Operations that compute indices, pointers and masks. The same operations also compute on data.
_ARITHMETIC = re.compile(
    r"arith\.|math\.|index\.|llvm\.(?!load|store|call|inline_asm)|ttg?\.convert_layout$"
    r"|tt\.(?:splat|expand_dims|broadcast|make_range|addptr|advance|get_program_id|get_num_programs|reshape"
    r"|trans|bitcast|ptr_to_int|int_to_ptr|make_tensor_ptr|unsplat|join|split)$"
)
_ACCESS = re.compile(
    r"load|store|atomic|async_copy|async_tma|descriptor|memdesc_(?:index|subslice|subview)|buffer_|gather|scatter"
    r"|barrier|assert"
)
_CONTROL = re.compile(r"(?:scf|cf|affine)\.(?:for|if|while|br|cond_br|switch|condition)$")
_YIELD = re.compile(r"\.yield$")
#: Which operand of a store is data: the second, the last, or the first.
_STORED: tuple[tuple[re.Pattern[str], int], ...] = (
    (re.compile(r"tt\.(?:store|atomic_\w+)$"), 1),
    (re.compile(r".*descriptor_(?:store|reduce|scatter)"), -1),
    (re.compile(r".*(?:local_store|buffer_store|buffer_atomic\w*)$"), 0),
)
_VALUE = re.compile(r"%[\w$.-]++(?:#\d++)?+")


def without_addresses(graph: Graph) -> Graph:
    """Return the graph with the address arithmetic of each access as one node.

    Address arithmetic that several accesses share becomes a separate node. An access with a single operation
    keeps it.
    """
    flow = _Flow(graph)
    groups = _groups(flow, _foldable(flow))
    place = {node: group for group, nodes in groups.items() for node in nodes}
    nodes: list[Node] = []
    for node in graph.nodes:
        group = place.get(node.id)
        if group is None:
            nodes.append(node)
        elif groups[group][0] == node.id:
            nodes.append(_folded(flow, group, [flow.nodes[each] for each in groups[group]]))
    edges: dict[tuple[str, str], Edge] = {}
    for edge in graph.edges:
        tail, head = place.get(edge.tail, edge.tail), place.get(edge.head, edge.head)
        is_folded = tail != edge.tail or head != edge.head
        # An address on its way into the next iteration is part of the folded node.
        if is_folded and (tail == head or edge.tail in flow.yields or edge.head in flow.yields):
            continue
        kind = "value" if is_folded and edge.kind == "carried" else edge.kind
        key = (tail, head) if is_folded else (edge.tail, f"{edge.head} {edge.kind}")
        edges.setdefault(key, replace(edge, tail=tail, head=head, kind=kind))
    return Graph(tuple(nodes), tuple(edges.values()), graph.clusters)


class _Flow:
    """The uses of the values of each node; a value that a region yields also has the uses of the result."""

    def __init__(self, graph: Graph) -> None:
        self.nodes = {node.id: node for node in graph.nodes}
        self.names = {node.id: operation_name(node) for node in graph.nodes}
        self.yields = {each for each, name in self.names.items() if _YIELD.search(name)}
        self.clusters = {cluster.id: cluster for cluster in graph.clusters}
        self._out: dict[str, list[Edge]] = defaultdict(list)
        for edge in graph.edges:
            self._out[edge.tail].append(edge)
        uses = {
            node: [use for edge in self._out[node] for use in self._uses(edge, set())]
            for node in self.nodes
            if node not in self.yields
        }
        self.users = {node: {use.head for use in found} for node, found in uses.items()}
        #: The nodes whose values are stored.
        self.stored = {node for node, found in uses.items() if any(self._is_stored(use) for use in found)}

    def _is_stored(self, use: Edge) -> bool:
        name = self.names[use.head]
        place = next((place for pattern, place in _STORED if pattern.match(name)), None)
        operands = _VALUE.findall(self.nodes[use.head].label[0].rpartition(" = ")[2])
        return place is not None and len(operands) > place and operands[place] == use.label

    def _uses(self, edge: Edge, seen: set[tuple[str, str]]) -> Iterator[Edge]:
        """Yield the edges by which a value gets to its uses, on the far side of a yield."""
        if edge.head not in self.yields:
            yield edge
            return
        if (edge.head, edge.label) in seen:
            return
        seen.add((edge.head, edge.label))
        operands = _VALUE.findall(self.nodes[edge.head].label[0])
        index = operands.index(edge.label) if edge.label in operands else 0
        for onward in self._out[edge.head]:
            number = onward.label.partition("#")[2]
            if onward.label == edge.label if onward.kind == "carried" else number in ("", str(index)):
                yield from self._uses(onward, seen)


def _foldable(flow: _Flow) -> set[str]:
    """Return the nodes that only compute addresses, masks, bounds and conditions."""
    data = _after(
        flow,
        {
            node
            for node, name in flow.names.items()
            if name and not _ARITHMETIC.match(name) and not _CONTROL.match(name) and node not in flow.yields
        },
    )
    folded = {
        node.id
        for node in flow.nodes.values()
        if node.id not in data
        and node.id not in flow.stored
        and flow.users.get(node.id)
        and (_ARITHMETIC.match(flow.names[node.id]) if node.kind == "operation" else _is_index(node))
    }
    makers: dict[str, set[str]] = defaultdict(set)
    for node, users in flow.users.items():
        for user in users:
            makers[user].add(node)
    work = [node for node in flow.nodes if node not in folded and not _takes_addresses(flow.names[node])]
    while work:
        for maker in makers[work.pop()] & folded:
            folded.discard(maker)
            work.append(maker)
    return folded


def _is_index(node: Node) -> bool:
    """Return whether a node is an argument other than a pointer, through which memory is accessed."""
    return node.kind == "argument" and not any("!tt.ptr" in text or "desc" in text for text in node.label[1:])


def _after(flow: _Flow, first: set[str]) -> set[str]:
    """Return nodes and everything that depends on them."""
    found, work = set(first), list(first)
    while work:
        for user in flow.users.get(work.pop(), set()) - found:
            found.add(user)
            work.append(user)
    return found


def _takes_addresses(name: str) -> bool:
    return bool(_ACCESS.search(name) or _CONTROL.match(name))


def _groups(flow: _Flow, folded: set[str]) -> dict[str, list[str]]:
    """Return the folded nodes by the one access that they are for, "" if there are several."""
    accesses: dict[str, set[str]] = defaultdict(set)
    makers: dict[str, list[str]] = defaultdict(list)
    for node in folded:
        for user in flow.users[node]:
            makers[user].append(node)
    for access in flow.nodes:
        if access in folded:
            continue
        work = list(makers[access])
        while work:
            node = work.pop()
            if access not in accesses[node]:
                accesses[node].add(access)
                work += makers[node]
    groups: dict[str, list[str]] = defaultdict(list)
    for node in flow.nodes:
        if node in folded:
            reached = accesses[node]
            groups[f"a{min(reached)}" if len(reached) == 1 else "shared"].append(node)
    return {group: nodes for group, nodes in groups.items() if len(nodes) > 1}


def _folded(flow: _Flow, group: str, nodes: list[Node]) -> Node:
    """Return the node that stands for address arithmetic. It is drawn beside its access."""
    access = flow.nodes.get(group[1:])
    cluster = access.cluster if access and group != "shared" else _outermost(flow, nodes)
    operations = sum(node.operations for node in nodes)
    return Node(
        group,
        "address",
        (
            _title(flow, access) if group != "shared" else "shared index arithmetic",
            f"{operations:,} operations",
        ),
        min(node.first_line for node in nodes),
        max(node.last_line for node in nodes),
        cluster,
        access.loop_depth if access and group != "shared" else 0,
        operations,
        tuple(sorted({line for node in nodes for line in node.source_lines})),
        parts=tuple(node.label[0] for node in nodes),
    )


def _outermost(flow: _Flow, nodes: list[Node]) -> str | None:
    """Return the outermost of the clusters of the nodes."""

    def depth(cluster: str | None) -> int:
        parent = flow.clusters[cluster].parent if cluster is not None else None
        return 0 if cluster is None else 1 + depth(parent)

    return min((node.cluster for node in nodes), key=depth)


def _title(flow: _Flow, access: Node | None) -> str:
    if access is None:
        return "address"
    name = flow.names[access.id]
    result, equals, _ = access.label[0].partition(" = ")
    subject = result if equals and len(result) < 24 else name
    if _CONTROL.match(name):
        return f"bounds of {name}" if name.endswith(".for") else f"condition of {name}"
    return f"address of {subject}"
