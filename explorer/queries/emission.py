"""The instructions that were emitted for the operations of a stage, by line."""

from __future__ import annotations

from collections import Counter

from explorer.analysis.assembly.emitted_instructions import Assembly, Emitted, Use, place_of
from explorer.analysis.assembly.operations import operation_lines
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
        self._sharing: Counter[tuple[object, ...]] = Counter()
        name = next((name for name in _ASSEMBLY if name in record.result.stages), None)
        if stage is None or name is None:
            return
        self.source = _ASSEMBLY[name]
        locations = record.locations(stage)
        self._lines = [
            [locations.locations[index] for index in indices] for indices in locations.line_locations
        ]
        is_operation = operation_lines(record.text(stage.text).splitlines(), stage.language)
        for is_one, places in zip(is_operation, self._lines, strict=False):
            self._sharing.update(set(map(place_of, places)) if is_one else ())
        assembly = record.result.stages[name]
        table = record.locations(assembly)
        self._assembly = Assembly(record.text(assembly.text), table.locations, table.line_locations)

    def of(self, line: int, use: Use) -> tuple[Emitted, ...]:
        if not 0 < line <= len(self._lines):
            return ()
        return self._assembly.emitted(self._lines[line - 1], use)

    def sharing(self, line: int) -> int:
        """Return the number of operations that have a location of the line's operation."""
        if not 0 < line <= len(self._lines):
            return 0
        return max((self._sharing[place_of(each)] for each in self._lines[line - 1]), default=0)
