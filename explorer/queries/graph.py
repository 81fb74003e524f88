"""The query for the graph of a stage or of the module after a pass: data flow or control flow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import msgspec

from explorer.analysis.graphs import (
    Cluster,
    Edge,
    Graph,
    Node,
    NothingToDraw,
    at_most,
    graph_of,
    part_of,
    to_dot,
    without_addresses,
    without_constants,
)
from explorer.errors import InvalidRequest, NotAnswerable
from explorer.model.languages import GraphKind, find_language
from explorer.queries.query import Answer, Parameter, Query, Subject
from explorer.store import Record

MOST_NODES = 5000
#: The graphs of each stage in a saved file: each graph takes time to compute.
_MOST_SAVED_PARTS = 8


class GraphDocument(msgspec.Struct, frozen=True):
    """A graph, as data and in DOT.

    `stage` or `pass_index` is the text whose lines the nodes name. `parts` are all clusters of the whole
    graph; each can be requested alone. `total_nodes` counts the nodes of the whole graph, or of the requested
    part. `cut` describes the nodes that are missing in `nodes`; "" if none is missing.
    """

    kind: GraphKind
    stage: str
    pass_index: int | None
    part: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    clusters: tuple[Cluster, ...]
    parts: tuple[Cluster, ...]
    total_nodes: int
    cut: str
    dot: str


def _find(subject: Subject) -> GraphDocument:
    parameters = subject.parameters
    text, language, stage, pass_index = _text(subject.record, parameters)
    try:
        whole = graph_of(text, language)
    except NothingToDraw as error:
        raise NotAnswerable(str(error)) from error
    graph = whole
    part = parameters.get("part", "")
    if part:
        inside = part_of(whole, part)
        if inside is None:
            raise InvalidRequest(f"The graph has no part {part[:50]!r}. See `parts` of the whole graph.")
        graph = inside
    if pass_index is None:
        graph = _with_source_lines(graph, subject.record, stage)
    if parameters.get("addresses", "1") == "0":
        graph = without_addresses(graph)
    if parameters.get("constants", "1") == "0":
        graph = without_constants(graph)
    cut = at_most(graph, _most_nodes(parameters))
    shown = cut.graph
    if pass_index is None and cut.words:
        shown = _with_source_lines(shown, subject.record, stage)
    return GraphDocument(
        kind=find_language(language).graph or "data flow",
        stage=stage,
        pass_index=pass_index,
        part=part,
        nodes=shown.nodes,
        edges=shown.edges,
        clusters=shown.clusters,
        parts=whole.clusters[:MOST_NODES],
        total_nodes=len(graph.nodes),
        cut=cut.words,
        dot=to_dot(shown),
    )


def _most_nodes(parameters: Mapping[str, str]) -> int:
    most = parameters.get("most_nodes", str(MOST_NODES))
    if not 0 < int(most) <= MOST_NODES:
        raise InvalidRequest(f"'most_nodes' must be a number from 1 to {MOST_NODES}, got {most[:50]!r}.")
    return int(most)


def _text(record: Record, parameters: Mapping[str, str]) -> tuple[str, str, str, int | None]:
    """Return the requested text, its language, its stage, and the index of the pass before it."""
    index = parameters.get("pass")
    if index is not None:
        entry = record.compiler_pass(int(index))
        return record.text_after_pass(entry.index), "mlir-llvm", entry.stage, entry.index
    stages = record.result.stages
    name = parameters.get("stage") or next(
        (each for each in stages if find_language(stages[each].language).graph), "ttir"
    )
    stage = record.stage(name)
    return record.text(stage.text), stage.language, name, None


def _with_source_lines(graph: Graph, record: Record, stage: str) -> Graph:
    by_line = record.source_lines(record.stage(stage))
    nodes = []
    for node in graph.nodes:
        lines = by_line[node.first_line - 1 : node.last_line]
        found = sorted({line for each in lines for line in each})
        nodes.append(replace(node, source_lines=tuple(found)) if found and not node.source_lines else node)
    return Graph(tuple(nodes), graph.edges, graph.clusters)


def _saved(record: Record, answer: Answer) -> Iterator[Mapping[str, str]]:
    """Yield the graphs of each stage: the whole, its functions and its loops, in full and reduced."""
    for name, stage in record.result.stages.items():
        if find_language(stage.language).graph is None:
            continue
        try:
            document = msgspec.json.decode(answer({"stage": name}), type=GraphDocument)
        except NotAnswerable:
            parts = []
        else:
            parts = [part.id for part in document.parts if part.kind != "region"][:_MOST_SAVED_PARTS]
        left_out: tuple[Mapping[str, str], ...] = ({}, {"constants": "0"})
        if find_language(stage.language).graph == "data flow":
            left_out += ({"addresses": "0"}, {"constants": "0", "addresses": "0"})
        for drawn in ({"stage": name}, *({"stage": name, "part": part} for part in parts)):
            yield from ({**drawn, **each} for each in left_out)


QUERY = Query(
    name="graph",
    saved=_saved,
    summary="The data flow of TTIR and TTGIR, the control flow of LLVM IR, PTX, SASS and AMDGCN.",
    version=5,
    document=GraphDocument,
    find=_find,
    parameters=(
        Parameter("stage", str, "The stage (by default the first stage that has a graph)."),
        Parameter("pass", int, "Index of a pass, instead of a stage: the module after it."),
        Parameter("part", str, "The id of a cluster in `parts`: only the part inside it."),
        Parameter("constants", bool, "0: without the operations that define constants."),
        Parameter("addresses", bool, "0: with the address arithmetic of each access as one node."),
        Parameter("most_nodes", int, f"Most nodes of the answer, at most {MOST_NODES:,}."),
    ),
)
