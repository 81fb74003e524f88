"""The graph that a text is drawn as: nodes, edges, and clusters that hold nodes and other clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

NodeKind = Literal["operation", "argument", "block", "summary"]
#: "value": from where a value is made to where it is used; "initial" and "carried": into a loop and around
#: it; "passed": into a block, with a jump. "flow": from block to block; "back": to the header of a loop;
#: "call": into a function.
EdgeKind = Literal["value", "initial", "carried", "passed", "flow", "back", "call"]
ClusterKind = Literal["function", "loop", "region"]


class NothingToDraw(ValueError):
    """The text holds nothing that could be drawn; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Node:
    """Something that is drawn as a box. Lines are those of the text, from 1 on.

    `operations` is how many operations or instructions it stands for, `source_lines` those of the user's
    source that they come from, as far as that is known.
    """

    id: str
    kind: NodeKind
    label: tuple[str, ...]
    first_line: int
    last_line: int
    cluster: str | None
    loop_depth: int = 0
    operations: int = 1
    source_lines: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """From `tail` to `head`. `label` is the condition of a jump, or the value that is handed on."""

    tail: str
    head: str
    kind: EdgeKind
    label: str = ""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A function, a loop or another region; `parent` is the cluster around it."""

    id: str
    kind: ClusterKind
    label: str
    parent: str | None
    first_line: int
    last_line: int


@dataclass(frozen=True)
class Graph:
    """What is drawn. A cluster comes before those inside of it."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    clusters: tuple[Cluster, ...]
