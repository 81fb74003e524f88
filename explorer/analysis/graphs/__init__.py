"""Graphs of the stages: data flow of MLIR, control flow of LLVM IR and of assembly."""

from __future__ import annotations

from explorer.analysis.graphs.control_flow import READERS, control_flow
from explorer.analysis.graphs.cut import Cut, at_most, part_of, without_constants
from explorer.analysis.graphs.data_flow import data_flow
from explorer.analysis.graphs.dot import to_dot
from explorer.analysis.graphs.graph import Cluster, Edge, Graph, Node, NothingToDraw

#: The languages whose values are followed; of the others, the control flow is drawn.
DATA_FLOW_LANGUAGES = ("ttir", "ttgir", "glir", "mlir-llvm")
CONTROL_FLOW_LANGUAGES = tuple(READERS)

__all__ = [
    "CONTROL_FLOW_LANGUAGES",
    "DATA_FLOW_LANGUAGES",
    "Cluster",
    "Cut",
    "Edge",
    "Graph",
    "Node",
    "NothingToDraw",
    "at_most",
    "control_flow",
    "data_flow",
    "graph_of",
    "part_of",
    "to_dot",
    "without_constants",
]


def graph_of(text: str, language: str) -> Graph:
    """The graph of a text: data flow or control flow, as its language has it.

    Raises:
        NothingToDraw: there is nothing to draw in it, or the language has no graph.
    """
    if language in DATA_FLOW_LANGUAGES:
        return data_flow(text)
    if language in CONTROL_FLOW_LANGUAGES:
        return control_flow(text, language)
    raise NothingToDraw(f"There is no graph of {language}: it is neither an IR nor assembly.")
