"""The script of all kernels that PyTorch's compiler or Helion writes for a program, graph by graph.

In: the output code of each graph. Out: a script that defines the kernels and launches them, with the program
as a file beside it, and the lines of the program that a kernel comes from.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from explorer.model import Frame, Location, OutputCode, TorchNode
from explorer.model.limits import MOST_GRAPH_NODE_CHARACTERS, MOST_GRAPH_NODES
from explorer.pipeline.fake_gpu import CompiledProgram, helion
from explorer.pipeline.fake_gpu.torch_compile import kernel_names
from explorer.pipeline.torch_nodes import NODES, ORIGINS
from explorer.pipeline.user_source import BESIDE, SOURCE_FILE, number_of

#: The name of the script, and of the program if it has none.
_PATH = "output_code.py"
_PROGRAM_PATH = "program.py"


def output_code(
    program: CompiledProgram, source: str, path: str, files: Mapping[str, str]
) -> OutputCode | None:
    """Return the script for the output of `torch.compile` or Helion for `source`; None: it has no kernel.

    `path` is the path of the program, and `files` are the files beside it.
    """
    path = path or _PROGRAM_PATH
    kernels: list[str] = []
    taken: set[str] = set()
    texts = []
    for graph in program.graphs:
        for name in (*kernel_names(graph), *helion.shared_names(graph)):
            if name in taken:
                graph = re.sub(rf"\b{name}\b", _free_name(name, taken), graph)
        kernels += kernel_names(graph)
        taken.update(kernel_names(graph), helion.shared_names(graph))
        # Names of files in the form that the page shows.
        graph = graph.replace(f"({SOURCE_FILE!r}, ", f"({path!r}, ").replace(f"('{BESIDE}", "('")
        texts.append(graph.replace(f"# src[{SOURCE_FILE}:", f"# src[{path}:"))
    if not kernels:
        return None
    own = _PATH
    while own in files or own == path:
        own = f"_{own}"
    return OutputCode("\n\n".join(texts), own, {**files, path: source}, tuple(kernels))


def _free_name(name: str, taken: Collection[str]) -> str:
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"


def torch_locations(interface: Any) -> tuple[Location, ...]:
    """Return the lines of the program that Inductor wrote a kernel for; none for other kernels."""
    origins = _metadata(interface, ORIGINS)
    return tuple(Location((Frame(str(file), int(line)),)) for file, line in origins)


def graph_nodes(interface: Any) -> tuple[TorchNode, ...]:
    """Return the nodes of PyTorch's graph that a kernel of Inductor computes; none for other kernels."""
    nodes = []
    for *texts, (file, line), is_backward in _metadata(interface, NODES)[:MOST_GRAPH_NODES]:
        name, operation, original, output = (str(text)[:MOST_GRAPH_NODE_CHARACTERS] for text in texts)
        number = number_of(f"{BESIDE}{file}", int(line))
        nodes.append(TorchNode(name, operation, original, output, number, bool(is_backward)))
    return tuple(nodes)


def _metadata(interface: Any, key: str) -> Any:
    metadata = getattr(interface, "inductor_meta", None)
    return metadata.get(key, ()) if isinstance(metadata, dict) else ()
