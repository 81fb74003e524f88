"""The source locations of a stage: one table, filled by the reader of the stage.

Each tool has its own format for locations: MLIR `loc(...)`, LLVM `!dbg`, PTX and AMDGCN `.loc`, nvdisasm's
`//## File`. The readers in `stages/` convert all of them to `Location`s with frames, the innermost first. The
script is "", and a file beside it has its path. A file of Triton's library is named from its package on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from explorer.model import Frame, Location
from explorer.pipeline.user_source import BESIDE, SOURCE_FILE

#: A chain of frames, the innermost first.
Frames = tuple[Frame, ...]

_PACKAGE_FOLDER = re.compile(r"^.*/(?=(?:triton|torch)/)")


def frame(path: str, line: int, column: int = 0, function: str = "") -> Frame:
    """Create a frame from what a tool printed."""
    file = "" if path == SOURCE_FILE else _PACKAGE_FOLDER.sub("", path.removeprefix(BESIDE))
    return Frame(file, line, column, function)


class LocationTable:
    """The distinct locations of one stage, and the locations of each line."""

    def __init__(self) -> None:
        self._index: dict[Frames, int] = {}
        self.lines: list[tuple[int, ...]] = []

    def add_line(self, chains: Iterable[Frames] = ()) -> None:
        """Append the locations of the next line. Chains without a line number are left out."""
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
