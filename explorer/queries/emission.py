"""The instructions that were emitted for the operations of a stage, by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from explorer.analysis.assembly.emitted_instructions import Assembly, Emitted, Use, place_of
from explorer.model import Location
from explorer.store import Record, StageEntry

_ASSEMBLY = {"ptx": "PTX", "amdgcn": "AMDGCN"}


class Emission:
    """The instructions that were emitted for the lines of a stage; none without locations.

    An instruction belongs to a location of the source. Several operations can have the same location, and
    then have the same instructions.
    """

    def __init__(self, record: Record, stage: StageEntry | None) -> None:
        self.source = ""
        self._lines: list[list[Location]] = []
        name = next((name for name in _ASSEMBLY if name in record.result.stages), None)
        if stage is None or name is None:
            return
        self.source = _ASSEMBLY[name]
        locations = record.locations(stage)
        self._lines = [
            [locations.locations[index] for index in indices] for indices in locations.line_locations
        ]
        assembly = record.result.stages[name]
        table = record.locations(assembly)
        self._assembly = Assembly(record.text(assembly.text), table.locations, table.line_locations)

    def of(self, line: int, use: Use) -> tuple[Emitted, ...]:
        if not 0 < line <= len(self._lines):
            return ()
        return self._assembly.emitted(self._lines[line - 1], use)

    def sharing(self, lines: Iterable[int]) -> dict[int, int]:
        """Return for the line of each operation how many of the operations have its location."""
        places = {
            line: set(map(place_of, self._lines[line - 1])) for line in lines if 0 < line <= len(self._lines)
        }
        counts = Counter(each for found in places.values() for each in found)
        return {line: max((counts[each] for each in found), default=0) for line, found in places.items()}
