"""Observes the output code that the program's Inductor loads: which kernels compute which nodes of a graph.

Inductor loads the output code of each graph as a module, also from its cache. A comment above each kernel
names the nodes that it computes. While a graph is compiled, its nodes are available, too, with the lines of
the program that they come from; a graph from the cache has no nodes.

Source: torch/_inductor/codecache.py (PyCodeCache) and graph.py (GraphLowering), 2.13.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from explorer.capture.watch import when_imported
from explorer.pipeline.torch_nodes import describe_node


def watch_output_code(note: Callable[[Path], None]) -> Callable[[], None]:
    """Call `note` with the file of each output code before it is loaded. Return a function to stop."""
    ends: list[Callable[[], None]] = []
    is_ended = False

    def begin() -> None:
        from torch._inductor.codecache import PyCodeCache

        if is_ended:
            return
        own, load = vars(PyCodeCache)["load_by_key_path"], PyCodeCache.load_by_key_path

        @functools.wraps(load)
        def note_and_load(key: str, path: str, linemap: Any = None, *rest: Any, **more: Any) -> Any:
            if linemap:  # Only output code has it; the file of a kernel does not.
                note(Path(path))
            return load(key, path, linemap, *rest, **more)

        PyCodeCache.load_by_key_path = staticmethod(note_and_load)
        ends.append(lambda: setattr(PyCodeCache, "load_by_key_path", own))

    def end() -> None:
        nonlocal is_ended
        is_ended = True
        while ends:
            ends.pop()()

    when_imported("torch._inductor.codecache", begin)
    return end


def present_nodes() -> dict[str, tuple[str, str, str, str, int]]:
    """Describe the nodes of the graph that is being compiled, by their names; none if there is no such graph.

    A description has the function that the node calls, the original operator, its output, and its file and
    line.
    """
    import torch
    from torch._inductor.virtualized import V

    graph = getattr(V.graph, "module", None)
    if graph is None:
        return {}
    library = str(Path(torch.__file__).parent)

    def is_users(file: str) -> bool:
        return file.endswith(".py") and not file.startswith(library)

    described = (describe_node(node, V.graph.is_backward, is_users) for node in graph.graph.nodes)
    return {name: (called, original, output, *line) for name, called, original, output, line, _ in described}
