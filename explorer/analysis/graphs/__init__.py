"""Graphs of the stages: data flow of MLIR, control flow of LLVM IR and of assembly."""

from __future__ import annotations

from functools import lru_cache

from explorer.analysis.graphs.addresses import without_addresses
from explorer.analysis.graphs.control_flow import control_flow
from explorer.analysis.graphs.cut import at_most, part_of, without_constants
from explorer.analysis.graphs.data_flow import data_flow
from explorer.analysis.graphs.dot import to_dot
from explorer.analysis.graphs.graph import Cluster, Edge, Graph, Node, NothingToDraw
from explorer.model.languages import find_language

__all__ = [
    "Cluster",
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
    "without_addresses",
    "without_constants",
]


@lru_cache(maxsize=1)  # a saved page has many parts of one graph
def graph_of(text: str, language: str) -> Graph:
    """Return the graph of a text: of its data flow or of its control flow, according to the language.

    Raises:
        NothingToDraw: the text has nothing to draw, or the language has no graph.
    """
    match find_language(language).graph:
        case "data flow":
            return data_flow(text)
        case "control flow":
            return control_flow(text, language)
        case None:
            raise NothingToDraw(f"{language} has no graph. Choose a stage that is an IR or assembly.")
