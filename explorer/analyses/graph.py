"""The graph of a stage, or of the module after a pass: data flow of an IR, control flow of a program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

import msgspec

from explorer.analyses.analysis import Analysis, Answer, Parameter, Subject
from explorer.analysis.graphs import (
    CONTROL_FLOW_LANGUAGES,
    DATA_FLOW_LANGUAGES,
    Cluster,
    Edge,
    Graph,
    Node,
    NothingToDraw,
    at_most,
    graph_of,
    part_of,
    to_dot,
    without_constants,
)
from explorer.errors import InvalidRequest, NotAnswerable
from explorer.store import Record

MOST_NODES = 5000
#: Of each stage in a saved file: each takes time to be found.
_MOST_SAVED_PARTS = 8
_DRAWN = (*DATA_FLOW_LANGUAGES, *CONTROL_FLOW_LANGUAGES)


class GraphDocument(msgspec.Struct, frozen=True):
    """A graph, as data and in DOT.

    `kind` says what flows in it; `stage` or `pass_index` which text it is of, whose lines its nodes name.
    `parts` are all clusters of the whole graph, any of which can be asked for alone. `total_nodes` counts
    what is in the whole, or in the part that is asked for; `cut` says in words what of it is not among
    `nodes`, "" where nothing is missing.
    """

    kind: Literal["data flow", "control flow"]
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
            raise InvalidRequest(f"The graph has no part {part[:50]!r}; `parts` of the whole lists them.")
        graph = inside
    if parameters.get("constants", "1") == "0":
        graph = without_constants(graph)
    cut = at_most(graph, _most_nodes(parameters))
    shown = cut.graph
    if pass_index is None:
        shown = _with_source_lines(shown, subject.record, stage)
    return GraphDocument(
        kind="data flow" if language in DATA_FLOW_LANGUAGES else "control flow",
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
    """The text that is asked for, its language, the stage that it is or leads to, and after which pass."""
    index = parameters.get("pass")
    if index is not None:
        entry = record.compiler_pass(int(index))
        return record.text_after_pass(entry.index), "mlir-llvm", entry.stage, entry.index
    stages = record.result.stages
    name = parameters.get("stage") or next(
        (each for each in stages if stages[each].language in _DRAWN), "ttir"
    )
    stage = record.stage(name)
    return record.text(stage.text), stage.language, name, None


def _with_source_lines(graph: Graph, record: Record, stage: str) -> Graph:
    by_line = record.locations(record.stage(stage)).source_lines()
    nodes = []
    for node in graph.nodes:
        lines = by_line[node.first_line - 1 : node.last_line]
        found = sorted({line for each in lines for line in each})
        nodes.append(replace(node, source_lines=tuple(found)) if found else node)
    return Graph(tuple(nodes), graph.edges, graph.clusters)


def _saved(record: Record, answer: Answer) -> Iterator[Mapping[str, str]]:
    """What is drawn of each stage: all of it, its functions and its loops, with and without constants."""
    for name, stage in record.result.stages.items():
        if stage.language not in _DRAWN:
            continue
        try:
            document = msgspec.json.decode(answer({"stage": name}), type=GraphDocument)
        except NotAnswerable:
            parts = []
        else:
            parts = [part.id for part in document.parts if part.kind != "region"][:_MOST_SAVED_PARTS]
        for drawn in ({"stage": name}, *({"stage": name, "part": part} for part in parts)):
            yield drawn
            yield {**drawn, "constants": "0"}


ANALYSIS = Analysis(
    name="graph",
    saved=_saved,
    summary="The data flow of TTIR and TTGIR, the control flow of LLVM IR, PTX, SASS and AMDGCN.",
    version=2,
    document=GraphDocument,
    find=_find,
    parameters=(
        Parameter("stage", str, "A stage; by default the first one that has a graph."),
        Parameter("pass", int, "The index of a pass, in the place of a stage: the module after it."),
        Parameter("part", str, "A cluster, by its id in `parts`: only what is inside of it."),
        Parameter("constants", bool, "0: without the operations that only make constants."),
        Parameter("most_nodes", int, f"Of a larger graph, draw so much of it. At most {MOST_NODES:,}."),
    ),
)
