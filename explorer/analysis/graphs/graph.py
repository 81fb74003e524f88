"""The graph of a text: nodes, edges, and clusters of nodes and other clusters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

#: "address": the address arithmetic of an access. "summary": a part that is drawn as one node.
NodeKind = Literal["operation", "argument", "block", "summary", "address"]
#: What an operation does with data; "" if it is none of these.
Role = Literal["", "load", "compute", "store"]
#: "value": from the definition of a value to a use; "initial" and "carried": into a loop, and to its next
#: iteration; "passed": to a block, by a branch. "flow": from block to block; "back": to the header of a loop;
#: "call": to a function.
EdgeKind = Literal["value", "initial", "carried", "passed", "flow", "back", "call"]
ClusterKind = Literal["function", "loop", "region"]
_OPERATION = re.compile(r"(?:%[^=]*+= )?+\"?+((?:[a-z_][\w$]*+\.)*+[\w$]++)")


class NothingToDraw(ValueError):
    """The text has nothing to draw; the message names the missing part."""


@dataclass(frozen=True, slots=True)
class Node:
    """A box of the graph. Line numbers are numbers of lines of the text and start at 1.

    `operations` is the number of operations or instructions that the node represents, `source_lines` are
    their source lines, as far as known. `parts` are the texts of operations that are folded into the node.
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
    role: Role = ""
    parts: tuple[str, ...] = ()


def operation_name(node: Node) -> str:
    """Return the name of a node's operation, such as "tt.load"; "" if the node is not an operation."""
    found = _OPERATION.match(node.label[0]) if node.kind == "operation" else None
    return found[1] if found else ""


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge from `tail` to `head`. `label` is the condition of a branch, or the passed value."""

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
    """A whole graph. A cluster comes before those inside it."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    clusters: tuple[Cluster, ...]
