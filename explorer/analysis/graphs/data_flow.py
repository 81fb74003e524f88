"""The data flow graph of a module: edges lead from the definition of a value to its uses.

In: MLIR as the compiler prints it (TTIR, TTGIR, Gluon's first stage, the LLVM dialect). Out: a graph with a
node for each operation and argument, and a cluster for each function and operation with regions. The values
that a region yields flow out of its last operation; in a loop also back into the arguments of the next
iteration.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from explorer.analysis.graphs.graph import (
    Cluster,
    ClusterKind,
    Edge,
    EdgeKind,
    Graph,
    Node,
    NothingToDraw,
    Role,
)
from explorer.analysis.graphs.long_lines import with_short_lines
from explorer.analysis.mlir.operations import Block, Operation, Region, read_module

_MODULES = ("module", "builtin.module")
_LOOPS = ("scf.for", "scf.while", "affine.for")
#: The title of the first of several regions.
_FIRST_REGIONS = {"scf.if": "then", "scf.while": "before"}
_TERMINATOR = re.compile(r"(?:^|[._])(?:yield|return|condition)$")
#: Deeper regions are drawn as parts of the region around them: no compiler nests so deep, and layout would
#: fail.
_DEEPEST = 40
_LONGEST_LABEL = 400
_ARGUMENT_TYPE = re.compile(r"(%[\w$.-]++)\s*+:\s*+([^\s,{)]++)")
_ROLES: tuple[tuple[re.Pattern[str], Role], ...] = (
    (re.compile(r"(?:^|[._])(?:load|load_to_local|gather)$|copy_global_to_local|buffer_load"), "load"),
    (
        re.compile(
            r"(?:^|[._])(?:store|scatter)$|atomic|copy_local_to_global|buffer_store|tma_store|tma_reduce"
        ),
        "store",
    ),
    (re.compile(r"(?:dot|mma)(?:_scaled)?$|[._](?:reduce|scan)$"), "compute"),
)
#: Data in registers and shared memory does not reach global memory.
_ON_CHIP = re.compile(r"ttn?g\.(?:local_|async_shared|tmem_)")


def data_flow(text: str) -> Graph:
    """Return the data flow graph of a module.

    Raises:
        NothingToDraw: there is no operation in it.
    """
    graph = _Builder().build(read_module(with_short_lines(text)))
    if not graph.nodes:
        raise NothingToDraw("The text has no operation.")
    return graph


class _Scope:
    """The values that are visible in a region: its own values, and the values of the regions around it."""

    def __init__(self, parent: _Scope | None, cluster: str | None, loop_depth: int, depth: int) -> None:
        self.parent = parent
        self.cluster = cluster
        self.loop_depth = loop_depth
        self.depth = depth
        self.makers: dict[str, tuple[str, ...]] = {}

    def find(self, value: str) -> tuple[str, ...]:
        """Return the nodes that define a value: several if branches yield it."""
        name = _name(value)
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
        self._arguments: dict[tuple[Block, int], str] = {}
        self._ids: dict[Operation, str] = {}
        self._scopes: dict[Region, _Scope] = {}
        #: The types of the current function's arguments.
        self._types: dict[str, str] = {}

    def build(self, top: Region) -> Graph:
        regions = list(self._place(top))
        for region in regions:
            self._find_makers(region)
        # Uses come after all definitions: a block may use a value that a later line defines.
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
                for block in region.blocks:
                    for index in range(len(block.arguments)):
                        self._add_argument(block, index, scope)
                yield region
                operations = region.operations
            for operation in operations:
                inner = self._add_operation(operation, scope)
                if inner:
                    work.append((region, scope, operations))
                    work.extend((each, inside, None) for each, inside in reversed(inner))
                    break

    def _add_operation(self, operation: Operation, scope: _Scope) -> list[tuple[Region, _Scope]]:
        if operation.name in _MODULES:
            return [(region, scope) for region in operation.regions]
        if operation.name.endswith(".func") and operation.regions:
            name = re.search(r'@([\w$.-]+|"[^"]*")', operation.text)
            self._types = dict(_ARGUMENT_TYPE.findall(operation.text))
            own = self._cluster(operation, scope, "function", name[1] if name else operation.name)
            return [(region, own) for region in operation.regions]
        if not operation.regions:
            self._add_node(operation, scope, scope)
            return []
        is_loop = operation.name in _LOOPS
        own = self._cluster(operation, scope, "loop" if is_loop else "region", operation.name)
        own.loop_depth += is_loop
        self._add_node(operation, scope, own)
        inner = []
        regions = operation.printed_regions
        for index, region in enumerate(regions):
            inside = own
            if len(regions) > 1:
                inside = self._region_cluster(operation, region, own, index)
            inner.append((region, _Scope(inside, inside.cluster, inside.loop_depth, inside.depth)))
        return inner

    def _cluster(self, operation: Operation, scope: _Scope, kind: ClusterKind, label: str) -> _Scope:
        return self._new_scope(scope, kind, label, operation.line, operation.end_line or operation.line)

    def _region_cluster(self, operation: Operation, region: Region, scope: _Scope, index: int) -> _Scope:
        label = region.title or f"region {index}"
        if index == 0 and operation.name in _FIRST_REGIONS:
            label = _FIRST_REGIONS[operation.name]
        return self._new_scope(scope, "region", label, region.first_line, region.last_line)

    def _new_scope(self, scope: _Scope, kind: ClusterKind, label: str, first: int, last: int) -> _Scope:
        if scope.depth >= _DEEPEST:
            return _Scope(scope, scope.cluster, scope.loop_depth, scope.depth)
        identifier = f"c{len(self._clusters)}"
        self._clusters.append(Cluster(identifier, kind, label, scope.cluster, first, last))
        return _Scope(scope, identifier, scope.loop_depth, scope.depth + 1)

    def _add_node(self, operation: Operation, outside: _Scope, scope: _Scope) -> None:
        """Add the node of an operation; `outside` is where its results can be seen."""
        identifier = f"n{len(self._nodes)}"
        self._ids[operation] = identifier
        self._nodes.append(
            Node(
                identifier,
                "operation",
                _label(operation),
                operation.line,
                operation.line,
                scope.cluster,
                scope.loop_depth,
                role=_role(operation.name),
            )
        )
        for result in operation.results:
            outside.makers[_name(result)] = (identifier,)

    def _add_argument(self, block: Block, index: int, scope: _Scope) -> None:
        identifier, name = f"n{len(self._nodes)}", block.arguments[index]
        self._arguments[block, index] = identifier
        self._nodes.append(
            Node(
                identifier,
                "argument",
                (name, self._types[name]) if name in self._types else (name,),
                block.line,
                block.line,
                scope.cluster,
                scope.loop_depth,
                operations=0,
            )
        )
        scope.makers[name] = (identifier,)

    def _find_makers(self, region: Region) -> None:
        """Connect the results of an operation with regions to the values that the regions yield."""
        for operation in region.operations:
            ends = [end for inner in operation.printed_regions if (end := _end(inner)) and end.operands]
            if operation.name == "scf.while":
                ends = ends[:1]
            if ends and operation in self._ids:
                makers = tuple(self._ids[end] for end in ends)
                for result in operation.results:
                    self._scopes[region].makers[_name(result)] = makers

    # --- edges ------------------------------------------------------------------------------------

    def _connect(self, region: Region) -> None:
        scope = self._scopes[region]
        blocks = {block.label: block for block in region.blocks}
        for operation in region.operations:
            identifier = self._ids.get(operation)
            if identifier is None:
                continue
            self._connect_values(operation.own_operands, identifier, scope)
            for label, passed in operation.successors:
                if label in blocks:
                    for value, argument in zip(passed, self._nodes_of(blocks[label]), strict=False):
                        self._add_edge(identifier, argument, "passed", value)
            if operation.regions:
                self._connect_regions(operation, identifier, scope)

    def _connect_regions(self, operation: Operation, identifier: str, scope: _Scope) -> None:
        regions = operation.printed_regions
        for region in regions:
            for block in region.blocks:
                initial = operation.initial if block is regions[0].blocks[0] else ()
                nodes = self._nodes_of(block)
                own = max(len(nodes) - len(initial), 0)
                for node in nodes[:own]:
                    self._add_edge(identifier, node, "value", "")
                for node, value in zip(nodes[own:], initial, strict=False):
                    for maker in scope.find(value):
                        self._add_edge(maker, node, "initial", value)
        ends = [end for region in regions if (end := _end(region))]
        if operation.name in _LOOPS and ends:
            self._connect_iterations(operation, ends)

    def _connect_iterations(self, operation: Operation, ends: list[Operation]) -> None:
        """Connect the final values of a loop's iteration to the arguments of the next iteration."""
        *before, last = ends
        carried = self._nodes_of(operation.regions[0].blocks[0])
        carried = carried[max(len(carried) - len(operation.initial), 0) :]
        for value, node in zip(last.operands, carried, strict=False):
            self._add_edge(self._ids[last], node, "carried", value)
        # The first region of a while loop decides; it passes values to the second one and to the results.
        for end, region in zip(before, operation.regions[1:], strict=False):
            nodes = [node for block in region.blocks for node in self._nodes_of(block)]
            for value, node in zip(end.operands[1:], nodes, strict=False):
                self._add_edge(self._ids[end], node, "passed", value)

    def _nodes_of(self, block: Block) -> list[str]:
        """Return the nodes of a block's arguments."""
        return [self._arguments[block, index] for index in range(len(block.arguments))]

    def _connect_values(self, values: Iterable[str], identifier: str, scope: _Scope) -> None:
        for value in dict.fromkeys(values):
            for maker in scope.find(value):
                if maker != identifier:
                    self._add_edge(maker, identifier, "value", value)

    def _add_edge(self, tail: str, head: str, kind: EdgeKind, label: str) -> None:
        self._edges.setdefault((tail, head, kind), label)


def _name(value: str) -> str:
    """Return the name of an operation's results, without the number of a result."""
    return value.partition("#")[0]


def _end(region: Region) -> Operation | None:
    """Return the operation that yields the values of a region."""
    *_, last = (None, *region.operations)
    return last if last is not None and _TERMINATOR.search(last.name) else None


def _role(name: str) -> Role:
    if _ON_CHIP.match(name):
        return ""
    return next((role for pattern, role in _ROLES if pattern.search(name)), "")


def _label(operation: Operation) -> tuple[str, ...]:
    """Return the text of the operation, with the types on a separate line."""
    text = operation.text.removesuffix("{").rstrip(" (")[:_LONGEST_LABEL]
    depth = 0
    for index, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif depth == 0 and character == " " and text.startswith((" : ", " -> "), index):
            return (text[:index], text[index:].strip(" :"))
    return (text,)
