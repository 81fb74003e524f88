"""LLVM IR: optimized, the input of the code generator.

`!dbg` attachments are removed from the text and resolved to file and line, through `inlinedAt`. The debug
metadata at the end of the module is not shown.

Source: LLVM's textual IR, as in Triton 3.6 and 3.9.
"""

from __future__ import annotations

import re

from explorer.model import Frame
from explorer.pipeline.locations import Frames, LocationTable, frame
from explorer.pipeline.stages.stage import Artifact, StageKind, StageText

_ATTACHMENT = re.compile(r",? !dbg !(\d+)")
_NODE = re.compile(r"^!(\d+) = (?:distinct )?!(DI\w+)\((.*)\)$")
_FIELD = re.compile(r'(\w+): (?:"((?:[^"\\]|\\.)*)"|!(\d+)|([\w|]+))')
#: Deeper calls have no frame, so that a chain that never ends takes little memory.
_MOST_FRAMES = 256
_POSITION = re.compile(r"[0-9]{1,9}")
_DEBUG_LINE = re.compile(r"^(?:!\d+ = (?:distinct )?!DI|!llvm\.dbg\.cu = |\s+#dbg_)")
_NODE_LINE = re.compile(r"^!(\d+) = ")
_REFERENCE = re.compile(r"!(\d+)")

_Node = dict[str, str]


class _DebugInfo:
    """The debug metadata of a module."""

    def __init__(self, raw: str) -> None:
        self._nodes: dict[str, _Node] = {}
        self._chains: dict[str, Frames] = {}
        for line in raw.splitlines():
            node = _NODE.match(line) if line.startswith("!") else None
            if node:
                fields = _FIELD.findall(node.group(3))
                self._nodes[node.group(1)] = {
                    name: string or reference or word for name, string, reference, word in fields
                }

    def chain(self, number: str) -> Frames:
        """Return the frames of a `!DILocation` or `!DISubprogram`, the innermost first."""
        numbers: list[str] = []
        caller: str | None = number
        while caller is not None and caller not in self._chains:
            self._chains[caller] = ()  # Metadata that refers to itself has no location.
            numbers.append(caller)
            caller = self._nodes.get(caller, {}).get("inlinedAt")
        callers = self._chains[caller] if caller is not None else ()
        for each in reversed(numbers):
            callers = self._chains[each] = (self._frame(each), *callers[: _MOST_FRAMES - 1])
        return self._chains[number]

    def _frame(self, number: str) -> Frame:
        node = self._nodes.get(number, {})
        scope = node if "scopeLine" in node or "linkageName" in node else self._node(node.get("scope"))
        line, column = _integer(node, "line"), _integer(node, "column")
        return frame(self._path(scope), line, column, self._function(scope))

    def _node(self, number: str | None) -> _Node:
        return self._nodes.get(number or "", {})

    def _path(self, scope: _Node) -> str:
        file = self._node(scope.get("file"))
        directory, name = file.get("directory", ""), file.get("filename", "")
        return f"{directory}/{name}" if directory and not name.startswith("/") else name

    def _function(self, scope: _Node) -> str:
        for _ in range(len(self._nodes)):
            if "name" in scope or "scope" not in scope:
                break
            scope = self._node(scope["scope"])
        return scope.get("name", "")


def _integer(node: _Node, name: str) -> int:
    """Return a field of a node; 0 if the field is missing or is not a position."""
    text = node.get(name, "")
    return int(text) if _POSITION.fullmatch(text) else 0


def _used_nodes(lines: list[str]) -> set[str]:
    """Return the numbers of the metadata nodes that are referenced by anything but debug information."""
    references: dict[str, list[str]] = {}
    waiting: list[str] = []
    for line in lines:
        if "!" not in line or _DEBUG_LINE.match(line):
            continue
        node = _NODE_LINE.match(line)
        if node:
            references[node.group(1)] = _REFERENCE.findall(line, node.end())
        else:
            waiting += _REFERENCE.findall(_ATTACHMENT.sub("", line))
    used: set[str] = set()
    while waiting:
        number = waiting.pop()
        if number not in used:
            used.add(number)
            waiting += references.get(number, [])
    return used


def read(artifact: Artifact) -> StageText:
    """Read LLVM IR's text."""
    raw = str(artifact.value)
    table = LocationTable()
    debug_info = _DebugInfo(raw)
    lines = raw.splitlines()
    used = _used_nodes(lines)
    shown: list[str] = []
    raw_lines: list[int] = []
    for index, line in enumerate(lines):
        node = _NODE_LINE.match(line)
        if _DEBUG_LINE.match(line) or (node and node.group(1) not in used):
            continue
        attachment = _ATTACHMENT.search(line) if "!dbg" in line else None
        if attachment:
            line = line[: attachment.start()] + line[attachment.end() :]
            table.add_line([debug_info.chain(attachment.group(1))])
        elif shown and not line and not shown[-1]:
            continue
        else:
            table.add_line()
        shown.append(line)
        raw_lines.append(index)
    return StageText("\n".join(shown) + "\n", raw, table, tuple(raw_lines))


STAGE = StageKind(
    name="llir",
    title="LLVM IR",
    summary="one thread",
    language="llir",
    produced_by="llir",
    read=read,
    kernel=re.compile(r"^define [^@\n]*\b(?:ptx|amdgpu)_kernel void @([\w$.]+)", re.MULTILINE),
)
