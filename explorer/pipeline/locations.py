"""Where a line comes from: one table of source locations for a stage, filled by the stage's reader.

The tools each write locations in their own way (MLIR `loc(...)`, LLVM `!dbg`, PTX and AMDGCN `.loc`,
nvdisasm's `//## File`); the readers in `stages/` turn all of them into `Location`s of frames, the
innermost first. The user's own file is "", a file of Triton's library is named from its package on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from explorer.model import Frame, Location
from explorer.pipeline.user_source import SOURCE_FILE

#: A chain of frames, the innermost first.
Frames = tuple[Frame, ...]

_PACKAGE_FOLDER = re.compile(r"^.*/(?=(?:triton|torch)/)")


def frame(path: str, line: int, column: int = 0, function: str = "") -> Frame:
    """Make a frame of what a tool printed."""
    file = "" if path == SOURCE_FILE else _PACKAGE_FOLDER.sub("", path)
    return Frame(file, line, column, function)


class LocationTable:
    """The distinct locations of one stage, and for each of its lines those that it has."""

    def __init__(self) -> None:
        self._index: dict[Frames, int] = {}
        self.lines: list[tuple[int, ...]] = []

    def add_line(self, chains: Iterable[Frames] = ()) -> None:
        """Append the locations of the next line; chains without a line number are left out."""
        indices = []
        for chain in chains:
            known = tuple(frame for frame in chain if frame.line > 0)
            if known:
                index = self._index.setdefault(known, len(self._index))
                if index not in indices:
                    indices.append(index)
        self.lines.append(tuple(indices))

    @property
    def locations(self) -> tuple[Location, ...]:
        """All locations, in the order of their indices."""
        return tuple(Location(frames) for frames in self._index)
