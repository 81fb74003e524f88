"""The flow of data through a module: from where values are made to where they are used.

In: MLIR as the compiler prints it (TTIR, TTGIR, Gluon's first stage, the LLVM dialect). Out: a graph with a
node an operation and an argument, a cluster a function and an operation with regions. What a region yields
flows out of its last operation; in a loop also back into the arguments of the next turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from explorer.analysis.graphs import read_mlir
from explorer.analysis.graphs.graph import Cluster, ClusterKind, Edge, EdgeKind, Graph, Node, NothingToDraw
from explorer.analysis.graphs.long_lines import with_short_lines
from explorer.analysis.graphs.read_mlir import Argument, Operation, Region

_TERMINATOR = re.compile(r"(?:^|[._])(?:yield|return|condition)$")
#: Deeper regions are drawn as parts of the one around them: no compiler nests so deep, and layout would fail.
_DEEPEST = 40
_LONGEST_LABEL = 400


def data_flow(text: str) -> Graph:
    """The data flow graph of a module.

    Raises:
        NothingToDraw: there is no operation in it.
    """
    graph = _Builder().build(read_mlir.read(with_short_lines(text)))
    if not graph.nodes:
        raise NothingToDraw("No operation is found in this text.")
    return graph


class _Scope:
    """The values that can be seen in a region: its own, and those of the regions around it."""

    def __init__(self, parent: _Scope | None, cluster: str | None, loop_depth: int, depth: int) -> None:
        self.parent = parent
        self.cluster = cluster
        self.loop_depth = loop_depth
        self.depth = depth
        self.makers: dict[str, tuple[str, ...]] = {}

    def find(self, value: str) -> tuple[str, ...]:
        """The nodes that a value comes from: several where branches yield it."""
        name = value.split("#", 1)[0]
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.makers:
                return scope.makers[name]
            scope = scope.parent
        return ()


class _Builder:
    def __init__(self) -> None:
        self._nodes: list[Node] = []
        self._edges: dict[tuple[str, str, EdgeKind], str] = {}
        self._clusters: list[Cluster] = []
        self._arguments: dict[Argument, str] = {}
        self._ids: dict[Operation, str] = {}
        self._scopes: dict[Region, _Scope] = {}

    def build(self, top: Region) -> Graph:
        regions = list(self._place(top))
        for region in regions:
            self._find_makers(region)
        # Only now: a block may use what a later line defines.
        for region in regions:
            self._connect(region)
        edges = (Edge(tail, head, kind, label) for (tail, head, kind), label in self._edges.items())
        return Graph(tuple(self._nodes), tuple(edges), tuple(self._clusters))

    # --- nodes and clusters -----------------------------------------------------------------------

    def _place(self, top: Region) -> Iterator[Region]:
        """Make the nodes of all regions, in the order of the text."""
        # Without recursion: a hostile text may nest as deep as it likes.
        work: list[tuple[Region, _Scope, Iterator[Operation] | None]]
        work = [(top, _Scope(None, None, 0, 0), None)]
        while work:
            region, scope, operations = work.pop()
            if operations is None:
                self._scopes[region] = scope
                for argument in region.all_arguments():
                    self._add_argument(argument, scope)
                yield region
                operations = iter(region.operations)
            for operation in operations:
                inner = self._add_operation(operation, scope)
                if inner:
                    work.append((region, scope, operations))
                    work.extend((each, inside, None) for each, inside in reversed(inner))
                    break

    def _add_operation(self, operation: Operation, scope: _Scope) -> list[tuple[Region, _Scope]]:
        if operation.is_module:
            return [(region, scope) for region in operation.regions]
        if operation.is_function:
            name = re.search(r'@([\w$.-]+|"[^"]*")', operation.text)
            own = self._cluster(operation, scope, "function", name[1] if name else operation.name)
            return [(region, own) for region in operation.regions]
        if not operation.regions:
            self._add_node(operation, scope)
            return []
        own = self._cluster(operation, scope, "loop" if operation.is_loop else "region", operation.name)
        own.loop_depth += operation.is_loop
        self._add_node(operation, own)
        inner = []
        for index, region in enumerate(operation.regions):
            inside = own
            if len(operation.regions) > 1:
                inside = self._region_cluster(region, own, index)
            inner.append((region, _Scope(inside, inside.cluster, inside.loop_depth, inside.depth)))
        return inner

    def _cluster(self, operation: Operation, scope: _Scope, kind: ClusterKind, label: str) -> _Scope:
        return self._new_scope(scope, kind, label, operation.first_line, operation.last_line)

    def _region_cluster(self, region: Region, scope: _Scope, index: int) -> _Scope:
        parent = region.parent
        default = (
            ("then" if index == 0 else "else") if parent and parent.name == "scf.if" else f"region {index}"
        )
        label = "before" if parent and parent.name == "scf.while" and index == 0 else region.title or default
        return self._new_scope(scope, "region", label, region.first_line, region.last_line)

    def _new_scope(self, scope: _Scope, kind: ClusterKind, label: str, first: int, last: int) -> _Scope:
        if scope.depth >= _DEEPEST:
            return _Scope(scope, scope.cluster, scope.loop_depth, scope.depth)
        identifier = f"c{len(self._clusters)}"
        self._clusters.append(Cluster(identifier, kind, label, scope.cluster, first, last))
        return _Scope(scope, identifier, scope.loop_depth, scope.depth + 1)

    def _add_node(self, operation: Operation, scope: _Scope) -> None:
        identifier = f"n{len(self._nodes)}"
        self._ids[operation] = identifier
        self._nodes.append(
            Node(
                identifier,
                "operation",
                _label(operation),
                operation.first_line,
                operation.first_line,
                scope.cluster,
                scope.loop_depth,
            )
        )
        outer = self._scopes[operation.region]
        for result in operation.results:
            outer.makers[result] = (identifier,)

    def _add_argument(self, argument: Argument, scope: _Scope) -> None:
        identifier = f"n{len(self._nodes)}"
        self._arguments[argument] = identifier
        self._nodes.append(
            Node(
                identifier,
                "argument",
                (argument.name,),
                argument.line,
                argument.line,
                scope.cluster,
                scope.loop_depth,
                operations=0,
            )
        )
        scope.makers[argument.name] = (identifier,)

    def _find_makers(self, region: Region) -> None:
        """What an operation with regions results in comes from what these yield."""
        for operation in region.operations:
            ends = [end for inner in operation.regions if (end := _end(inner)) and end.operands]
            if operation.name == "scf.while":
                ends = ends[:1]
            if ends and operation in self._ids:
                makers = tuple(self._ids[end] for end in ends)
                for result in operation.results:
                    self._scopes[region].makers[result] = makers

    # --- edges ------------------------------------------------------------------------------------

    def _connect(self, region: Region) -> None:
        scope = self._scopes[region]
        for operation in region.operations:
            identifier = self._ids.get(operation)
            if identifier is None:
                continue
            self._connect_values(operation.operands, identifier, scope)
            for label, handed_on in operation.successors:
                for value, argument in zip(handed_on, region.blocks.get(label, ()), strict=False):
                    self._add_edge(identifier, self._arguments[argument], "passed", value)
            if operation.regions:
                self._connect_regions(operation, identifier, scope)

    def _connect_regions(self, operation: Operation, identifier: str, scope: _Scope) -> None:
        for region in operation.regions:
            for argument in region.all_arguments():
                own = self._arguments[argument]
                if not argument.initial:
                    self._add_edge(identifier, own, "value", "")
                for maker in scope.find(argument.initial) if argument.initial else ():
                    self._add_edge(maker, own, "initial", argument.initial)
        ends = [end for region in operation.regions if (end := _end(region))]
        if operation.is_loop and ends:
            self._connect_turns(operation, ends)

    def _connect_turns(self, operation: Operation, ends: list[Operation]) -> None:
        """Of a loop, lead what a turn ends with to the arguments of the next one."""
        *before, last = ends
        carried = operation.regions[0].arguments
        counters = len(carried) - sum(bool(argument.initial) for argument in carried)
        for value, argument in zip(last.operands, carried[counters:], strict=False):
            self._add_edge(self._ids[last], self._arguments[argument], "carried", value)
        # The first region of a while loop decides, and hands on what the second one and the results get.
        for end, region in zip(before, operation.regions[1:], strict=False):
            for value, argument in zip(end.operands[1:], region.all_arguments(), strict=False):
                self._add_edge(self._ids[end], self._arguments[argument], "passed", value)

    def _connect_values(self, values: list[str], identifier: str, scope: _Scope) -> None:
        for value in values:
            for maker in scope.find(value):
                if maker != identifier:
                    self._add_edge(maker, identifier, "value", value)

    def _add_edge(self, tail: str, head: str, kind: EdgeKind, label: str) -> None:
        self._edges.setdefault((tail, head, kind), label)


def _end(region: Region) -> Operation | None:
    """The operation that says what a region yields."""
    last = region.operations[-1] if region.operations else None
    return last if last is not None and _TERMINATOR.search(last.name) else None


def _label(operation: Operation) -> tuple[str, ...]:
    """What it does, and under it the types."""
    text = operation.text[:_LONGEST_LABEL]
    depth = 0
    for index, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif depth == 0 and character == " " and text.startswith((" : ", " -> "), index):
            return (text[:index], text[index:].strip(" :"))
    return (text,)
