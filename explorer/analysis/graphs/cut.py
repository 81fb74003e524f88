"""Reduce a graph to a size that can be drawn: a part of it, or its inner parts as one node each."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

from explorer.analysis.graphs.graph import Cluster, Edge, Graph, Node


@dataclass(frozen=True)
class Cut:
    """A graph that is small enough, and a description of the missing parts; "" if it is complete."""

    graph: Graph
    words: str = ""


def part_of(graph: Graph, cluster: str) -> Graph | None:
    """Return the part of a graph inside a cluster; None if there is no such cluster."""
    inside: set[str] = set()
    for each in graph.clusters:
        if each.id == cluster or each.parent in inside:
            inside.add(each.id)
    if not inside:
        return None
    nodes = [node for node in graph.nodes if node.cluster in inside]
    kept = {node.id for node in nodes}
    clusters = [
        replace(each, parent=None) if each.id == cluster else each
        for each in graph.clusters
        if each.id in inside
    ]
    edges = [edge for edge in graph.edges if edge.tail in kept and edge.head in kept]
    return Graph(tuple(nodes), tuple(edges), tuple(clusters))


def at_most(graph: Graph, most_nodes: int) -> Cut:
    """Replace inner loops and regions by one node each until the graph is small enough; then truncate it."""
    if len(graph.nodes) <= most_nodes:
        return Cut(graph)
    total = len(graph.nodes)
    folded = _folded(graph, most_nodes)
    words = f"The graph has {total:,} nodes, more than the limit of {most_nodes:,}"
    if len(folded.nodes) < total:
        words += ": each of the innermost parts is drawn as one node"
    if len(folded.nodes) > most_nodes:
        folded = _first(folded, most_nodes)
        words += f"{',' if ':' in words else ':'} only the first {most_nodes:,} are shown"
    return Cut(folded, f"{words}. Choose a part to see all of it.")


def without_constants(graph: Graph) -> Graph:
    """Return the graph without the operations that define constants."""
    constants = {
        node.id
        for node in graph.nodes
        if node.kind == "operation" and (".constant" in node.label[0] or ".mlir.constant" in node.label[0])
    }
    return _keep(graph, {node.id for node in graph.nodes} - constants)


def _folded(graph: Graph, most_nodes: int) -> Graph:
    """Fold clusters, the innermost and largest first; never the only function."""
    depths: dict[str, int] = {}
    for cluster in graph.clusters:
        depths[cluster.id] = 0 if cluster.parent is None else depths[cluster.parent] + 1
    members: dict[str, int] = defaultdict(int)
    for node in graph.nodes:
        if node.cluster is not None:
            members[node.cluster] += 1
    count = len(graph.nodes)
    fold_into: set[str] = set()
    outermost = [cluster for cluster in graph.clusters if cluster.parent is None]
    for cluster in sorted(graph.clusters, key=lambda each: (-depths[each.id], -members[each.id])):
        if count <= most_nodes or (len(outermost) == 1 and cluster.parent is None):
            break
        fold_into.add(cluster.id)
        count -= members[cluster.id] - 1
        if cluster.parent is not None:
            members[cluster.parent] += 1
    return _fold(graph, fold_into)


def _fold(graph: Graph, fold_into: set[str]) -> Graph:
    stands_for: dict[str, str] = {}  # of each cluster, the outermost folded one around it
    for cluster in graph.clusters:
        above = None if cluster.parent is None else stands_for.get(cluster.parent)
        if above is not None:
            stands_for[cluster.id] = above
        elif cluster.id in fold_into:
            stands_for[cluster.id] = cluster.id
    inside: dict[str, list[Node]] = defaultdict(list)
    for node in graph.nodes:
        if node.cluster is not None and node.cluster in stands_for:
            inside[stands_for[node.cluster]].append(node)
    places = {node.id: f"s{cluster}" for cluster, nodes in inside.items() for node in nodes}
    clusters = {cluster.id: cluster for cluster in graph.clusters}
    nodes: list[Node] = []
    for node in graph.nodes:
        if node.id not in places:
            nodes.append(node)
        elif (folded := places[node.id].removeprefix("s")) in inside:
            nodes.append(_summary(clusters[folded], inside.pop(folded)))
    kept = {node.id for node in nodes}
    edges = dict.fromkeys(
        Edge(places.get(edge.tail, edge.tail), places.get(edge.head, edge.head), edge.kind)
        if edge.tail in places or edge.head in places
        else edge
        for edge in graph.edges
    )
    return Graph(
        tuple(nodes),
        tuple(edge for edge in edges if edge.tail != edge.head and edge.tail in kept and edge.head in kept),
        tuple(cluster for cluster in graph.clusters if cluster.id not in stands_for),
    )


def _summary(cluster: Cluster, nodes: list[Node]) -> Node:
    operations = sum(node.operations for node in nodes)
    return Node(
        f"s{cluster.id}",
        "summary",
        (cluster.label, f"{operations:,} operations"),
        cluster.first_line,
        cluster.last_line,
        cluster.parent,
        max(node.loop_depth for node in nodes),
        operations,
    )


def _first(graph: Graph, count: int) -> Graph:
    return _keep(graph, {node.id for node in graph.nodes[:count]})


def _keep(graph: Graph, kept: set[str]) -> Graph:
    return Graph(
        tuple(node for node in graph.nodes if node.id in kept),
        tuple(edge for edge in graph.edges if edge.tail in kept and edge.head in kept),
        graph.clusters,
    )
