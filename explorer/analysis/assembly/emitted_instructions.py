"""The PTX or AMDGCN instructions that were emitted for an operation: they have its location.

In: the locations of a TTGIR line, the text and locations of the assembly. Out: memory and matrix
instructions, with the bytes that each lane moves. A duplicated operation (the steps of a pipelined loop
before and after it) shares its location with its copies.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from explorer.model import Location

Use = Literal["global", "shared", "matrix"]

_PTX_GLOBAL = re.compile(r"\b((?:ld|st|atom|red)(?:\.[\w:]+)*?\.global(?:\.[\w:]+)*)")
_PTX_COPY = re.compile(
    r"\b(cp\.async\.c[ag]\.shared\.global\S*)\s*\[[^\]]*\],\s*\[[^\]]*\],\s*(0x[0-9a-f]+|\d+)"
)
_PTX_BULK = re.compile(r"\b(cp\.(?:async|reduce\.async)\.bulk\.tensor\S*)")
_PTX_MATRIX = re.compile(r"\b((?:wgmma\.mma_async|mma\.sync|tcgen05\.mma)\.\S+)")
_PTX_WIDTH = re.compile(r"(?:\.v(\d))?\.(?:[bsuf]|bf)(\d+)(?:x(\d))?$")
_AMD_GLOBAL = re.compile(r"^\s*((?:global|flat|buffer)_(?:load|store|atomic)_\w+)")
_DS_BITS = re.compile(r"_[bui](\d+)")
_SHARED = re.compile(
    r"\b((?:ld|st)(?:\.[\w:]+)*?\.shared(?:\.[\w:]+)*|(?:ld|st)matrix\.\S+|ds_(?:read|write|load|store)_\w+)"
)
_AMD_MATRIX = re.compile(r"^\s*(v_(?:s?mfma|s?wmma)\w*)")
_AMD_WIDTH = re.compile(
    r"_(?:(dword)(?:x(\d))?|b(\d+)|(u?short|sshort)(?:_d16\w*)?|([us]?byte)(?:_d16\w*)?)(?:_|$)"
)


@dataclass(frozen=True)
class Emitted:
    """An instruction by name, its occurrences in the text, and the bytes a lane moves (None: unknown)."""

    name: str
    count: int
    lane_bytes: int | None


class Assembly:
    """The instructions of a stage of assembly, by location."""

    def __init__(
        self, text: str, locations: Sequence[Location], line_locations: Sequence[Sequence[int]]
    ) -> None:
        self._by_place: dict[tuple[object, ...], list[str]] = {}
        for line, indices in zip(text.splitlines(), line_locations, strict=False):
            for index in indices[:1]:
                self._by_place.setdefault(place_of(locations[index]), []).append(line)

    def emitted(self, places: Iterable[Location], use: Use) -> tuple[Emitted, ...]:
        """Return the instructions with this use at any of the locations, the most frequent first."""
        lines = [
            line for place in dict.fromkeys(map(place_of, places)) for line in self._by_place.get(place, ())
        ]
        found = Counter(filter(None, map(_READERS[use], lines)))
        return tuple(Emitted(name, count, lane_bytes) for (name, lane_bytes), count in found.most_common())


def place_of(location: Location) -> tuple[object, ...]:
    """Return what the locations of an operation share in all stages: files, lines, the innermost column."""
    column = location.frames[0].column if location.frames else 0
    return (column, *((frame.file, frame.line) for frame in location.frames))


def _global_instruction(line: str) -> tuple[str, int | None] | None:
    if copy := _PTX_COPY.search(line):
        return copy[1], int(copy[2], 0)
    if bulk := _PTX_BULK.search(line):
        return bulk[1], None
    if found := _PTX_GLOBAL.search(line):
        width = _PTX_WIDTH.search(found[1])
        if not width:
            return found[1], None
        return found[1], int(width[1] or 1) * int(width[2]) * int(width[3] or 1) // 8
    if found := _AMD_GLOBAL.match(line):
        width = _AMD_WIDTH.search(found[1])
        return found[1], _amd_bytes(width) if width else None
    return None


def _amd_bytes(width: re.Match[str]) -> int:
    if width[1]:
        return 4 * int(width[2] or 1)
    if width[3]:
        return int(width[3]) // 8
    return 2 if width[4] else 1


def _shared_instruction(line: str) -> tuple[str, int | None] | None:
    found = _SHARED.search(line)
    if not found:
        return None
    name = found[1]
    if name.startswith("ds_"):
        bits = _DS_BITS.search(name)
        return name, int(bits[1]) // 8 if bits else None
    width = _PTX_WIDTH.search(name) if "matrix" not in name else None
    return name, int(width[1] or 1) * int(width[2]) // 8 if width else None


def _matrix_instruction(line: str) -> tuple[str, int | None] | None:
    found = _PTX_MATRIX.search(line) or _AMD_MATRIX.match(line)
    return (found[1].rstrip(";"), None) if found else None


_READERS: dict[Use, Callable[[str], tuple[str, int | None] | None]] = {
    "global": _global_instruction,
    "shared": _shared_instruction,
    "matrix": _matrix_instruction,
}
