"""Reads which nodes of PyTorch's graphs the kernels of a capture compute, and writes them into their scripts.

In: the documents of the graphs, and the script of a kernel. Out: the script with the nodes as Inductor's
metadata of the kernel, in the format of output code, and the files of the program.

Source: torch/_inductor/utils.py (get_kernel_metadata) and codegen/triton.py, 2.13.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Annotated

import msgspec

from explorer.model.limits import MOST_GRAPH_NODE_CHARACTERS, MOST_GRAPH_NODES
from explorer.pipeline.torch_nodes import NODES, ORIGINS, Described

_MOST_FILES_BYTES = 512 << 10

_KERNEL = re.compile(r"^(\w{1,200}) = async_compile\.triton\(", re.MULTILINE)
#: A node that a kernel computes, in the comment above it.
_NODE = re.compile(r"^#   %(\w{1,200}) : (.*?) = call_\w+\[target=([^\]\n]{1,300})\]", re.MULTILINE)
_OUTPUT = re.compile(r'"(\w{1,20}\[[^\]\n]{0,200}\])')
_BACKWARD = re.compile(r"^# AOT ID: \['\d+_backward'\]", re.MULTILINE)
_OPERATORS = "torch.ops."
_NAME = re.compile(r"[^\w .+-]")

_Text = Annotated[str, msgspec.Meta(max_length=10_000)]
_Line = Annotated[int, msgspec.Meta(ge=0, le=10_000_000)]
_Digest = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]


class GraphFile(msgspec.Struct, frozen=True):
    """The content of `graphs/<digest>.json`: output code, descriptions of its nodes, and the files that the
    nodes come from.

    The nodes of output code from Inductor's cache are not described.
    """

    version: int
    code: _Digest
    nodes: Annotated[dict[str, tuple[_Text, _Text, _Text, _Text, _Line]], msgspec.Meta(max_length=100_000)]
    files: Annotated[dict[_Text, _Digest], msgspec.Meta(max_length=10_000)]


@dataclass(frozen=True)
class GraphKernel:
    """A kernel in output code. `nodes` are described; their lines name files of `texts` by their paths."""

    code: str
    nodes: tuple[Described, ...]


@dataclass
class GraphKernels:
    """The kernels of all graphs, by their names. Several graphs may have a kernel of one name."""

    _kernels: dict[str, list[GraphKernel]] = field(default_factory=dict)
    _texts: dict[str, str] = field(default_factory=dict)

    def add(self, graph: GraphFile, code: str, text_of: Callable[[str], str]) -> None:
        """Add the kernels of a graph. `text_of` reads a file of the program by its digest."""
        for name, kernel in _kernels_of(graph, code):
            self._kernels.setdefault(name, []).append(kernel)
        for path, digest in graph.files.items():
            if path not in self._texts:
                self._texts[path] = text_of(digest)

    def complete(self, kernel: str, script: str) -> tuple[str, dict[str, str]]:
        """Return the script of a kernel with its nodes, and the files with their lines by their new paths.

        A kernel that no output code has is left unchanged. Files that are too long together are left out.
        """
        function = _function(script, kernel)
        found = next(
            (each for each in self._kernels.get(kernel, ()) if function and function in each.code), None
        )
        if found is None or not found.nodes:
            return script, {}
        lines = {node[4] for node in found.nodes}
        texts = {file: self._texts[file] for file, _ in sorted(lines) if file in self._texts}
        if sum(map(len, texts.values())) > _MOST_FILES_BYTES:
            texts = {}
        names = _short_names(texts)
        nodes = [(*node[:4], (names.get(node[4][0], ""), node[4][1]), node[5]) for node in found.nodes]
        origins = sorted({node[4] for node in nodes if node[4][0]})
        metadata = {ORIGINS: origins, NODES: nodes}
        files = {names[file]: text for file, text in texts.items()}
        return f"{script}\n{kernel}.inductor_meta = {metadata!r}\n", files


def _kernels_of(graph: GraphFile, code: str) -> Iterator[tuple[str, GraphKernel]]:
    is_backward = _BACKWARD.search(code) is not None
    starts = list(_KERNEL.finditer(code))
    ends = [*(each.start() for each in starts[1:]), len(code)]
    for start, end in zip(starts, ends, strict=True):
        nodes = []
        for name, type_, target in _NODE.findall(_comment_above(code, start.start()))[:MOST_GRAPH_NODES]:
            shape = _OUTPUT.search(type_)
            written = (target.removeprefix(_OPERATORS), "", shape[1] if shape else "", "", 0)
            *texts, file, line = graph.nodes.get(name, written)
            called, original, output = (text[:MOST_GRAPH_NODE_CHARACTERS] for text in texts)
            nodes.append((name, called, original, output, (file, line), is_backward))
        yield start[1], GraphKernel(code[start.end() : end], tuple(nodes))


def _comment_above(code: str, place: int) -> str:
    """Return the lines of the comment that ends at a place."""
    start = place
    while start and code.startswith("#", before := code.rfind("\n", 0, start - 1) + 1):
        start = before
    return code[start:place]


def _function(script: str, name: str) -> str:
    """Return the text of a function; empty if the script does not define it."""
    found = re.search(rf"^def {re.escape(name)}\(.*\n(?:(?:[ \t].*)?\n)*?(?=^\S|\Z)", script, re.MULTILINE)
    return found[0].rstrip() if found else ""


def _short_names(files: Iterable[str]) -> dict[str, str]:
    """Return the paths relative to their common folder."""
    folders = {posixpath.dirname(file) for file in files}
    common = posixpath.commonpath(folders) if folders else ""
    names: dict[str, str] = {}
    for file in files:
        parts = PurePosixPath(posixpath.relpath(file, common)).parts
        name = "/".join(_NAME.sub("_", part).lstrip(".") or "_" for part in parts)
        if name not in names.values() and name.endswith(".py"):
            names[file] = name
    return names
