"""A graph in DOT, written by the `graphviz` package. The page computes the layout.

Nodes and edges have classes, by which the page colors them.
"""

from __future__ import annotations

import re
from collections import defaultdict

import graphviz

from explorer.analysis.graphs.graph import Edge, Graph, Node

#: Longer lines are cut: the text itself is a click away.
_LONGEST_LINE = 68
_LONGEST_EDGE_LABEL = 28
#: Characters that XML cannot contain, and so SVG cannot.
_NOT_IN_XML = re.compile(r"[^\t\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: The results and the name of an operation, and the rest of it.
_HEAD = re.compile(r"((?:%[^=]*+= )?+)(\"?+[\w.$]++\"?+)(.*)", re.DOTALL)
#: The text before the operands: a predicate, a constant, the text of inline assembly.
_UP_TO_OPERANDS = re.compile(r'(?:\s*+"(?:[^"\\]|\\.)*+")?+[^%({\[]*+')
_SHAPED = re.compile(r"(?:tensor|memdesc)?<((?:\d++x)++)((?:!tt\.ptr<[^>]++>|[^,<>])++)(?:, (#[\w.]++))?+")
_POINTEE = re.compile(r"^!tt\.ptr<(.+)>$")
_FEW_TURNS = {"searchsize": "5", "maxiter": "1"}
#: In graphs with more nodes, Graphviz spends less effort on crossings and straight lines.
_EFFORT: tuple[tuple[int, dict[str, str]], ...] = (
    (1200, {**_FEW_TURNS, "nslimit": "0.02", "nslimit1": "0.02", "mclimit": "0.01", "splines": "line"}),
    (250, {"nslimit": "1", "nslimit1": "1", "mclimit": "0.1", "splines": "line"}),
    (0, {}),
)


def to_dot(graph: Graph) -> str:
    """Write a graph in DOT. A node shows the name and type of its operation; operands are edges."""
    effort = next(attributes for count, attributes in _EFFORT if len(graph.nodes) >= count)
    digraph = graphviz.Digraph(
        "graph",
        graph_attr={
            "rankdir": "TB",
            "nodesep": "0.18",
            "ranksep": "0.32",
            "fontname": "Helvetica",
            "fontsize": "11",
            **effort,
        },
        node_attr={
            "shape": "box",
            "fontname": "Courier",
            "fontsize": "10",
            "margin": "0.09,0.05",
            "height": "0.2",
        },
        edge_attr={"fontname": "Courier", "fontsize": "9", "arrowsize": "0.6"},
    )
    nodes: dict[str | None, list[Node]] = defaultdict(list)
    for node in graph.nodes:
        nodes[node.cluster].append(node)
    # From the inside out: a subgraph is copied into the one around it.
    bodies: dict[str | None, list[graphviz.Digraph]] = defaultdict(list)
    for cluster in reversed(graph.clusters):
        body = graphviz.Digraph(
            f"cluster_{cluster.id}",
            graph_attr={
                "id": cluster.id,
                "class": cluster.kind,
                "label": _label((cluster.label,)),
                "labeljust": "l",
                "style": "rounded",
            },
        )
        _fill(body, nodes[cluster.id], bodies.pop(cluster.id, []))
        if nodes[cluster.id] or len(body.body) > 0:
            bodies[cluster.parent].append(body)
    _fill(digraph, nodes[None], bodies[None])
    for index, edge in enumerate(graph.edges):
        _add_edge(digraph, edge, f"e{index}", with_label=not effort)
    return str(digraph.source)


def _fill(body: graphviz.Digraph, nodes: list[Node], subgraphs: list[graphviz.Digraph]) -> None:
    for node in nodes:
        shape = {"shape": "ellipse"} if node.kind == "argument" else {}
        classes = f"{node.kind} {node.role}".strip()
        body.node(node.id, label=_label(_shown(node)), id=node.id, **{"class": classes}, **shape)
    for subgraph in reversed(subgraphs):
        body.subgraph(subgraph)


def _add_edge(digraph: graphviz.Digraph, edge: Edge, identifier: str, *, with_label: bool) -> None:
    # A value that a loop carries into the next iteration must not turn the drawing of the loop upside down.
    free = {"constraint": "false"} if edge.kind in ("carried", "call") else {}
    label = edge.label if with_label and edge.kind not in ("value", "initial") else ""
    if label:
        free["label"] = _label((label,), _LONGEST_EDGE_LABEL)
    digraph.edge(edge.tail, edge.head, id=identifier, **{"class": edge.kind}, **free)


def _shown(node: Node) -> tuple[str, ...]:
    """Return the lines of a node that are drawn."""
    if node.kind == "argument":
        return node.label[:1]
    if node.kind != "operation":
        return node.label
    text, *types = node.label
    head = _HEAD.match(text)
    if head is None:
        return node.label
    results, name, rest = head.groups()
    before = _UP_TO_OPERANDS.match(rest)
    short = f"{results}{name}{before[0] if before else ''}".rstrip(" ,")
    has_one_result = bool(results) and ":" not in results
    return (short, *(_short_type(each) for each in types if has_one_result or node.role == "store"))


def _short_type(text: str) -> str:
    """Return the type of a result in short form: "128×64 f16 #blocked"."""
    result = re.split(r"-> | to ", text)[-1].strip()
    shaped = _SHAPED.findall(result)
    if not shaped:
        return result
    shape, element, encoding = shaped[-1]
    # A load or a store prints the type of its pointers.
    return " ".join(filter(None, (shape[:-1].replace("x", "×"), _POINTEE.sub(r"\1", element), encoding)))


def _label(lines: tuple[str, ...], longest: int = _LONGEST_LINE) -> str:
    r"""Lines as a label, each at the left (`\l`), nothing in them a command of DOT's or a tag."""
    shown = [_shortened(_NOT_IN_XML.sub("\ufffd", line), longest) for line in lines]
    text = r"\l".join(graphviz.escape(line) for line in shown)
    return str(graphviz.nohtml(text + r"\l" if len(lines) > 1 else text))


def _shortened(line: str, longest: int) -> str:
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
