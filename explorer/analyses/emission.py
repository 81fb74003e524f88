"""Which instructions a compilation has made of the operations in the lines of one of its stages."""

from __future__ import annotations

import msgspec

from explorer.analysis.emitted_instructions import Assembly, Emitted, Use
from explorer.model import Location
from explorer.store import Record
from explorer.store.entries import StageEntry, StageLocations

_ASSEMBLY = {"ptx": "PTX", "amdgcn": "AMDGCN"}


class Emission:
    """Which instructions were made of the lines of a stage; nothing where locations are not known."""

    def __init__(self, record: Record, stage: StageEntry | None) -> None:
        self.source = ""
        self._lines: list[list[Location]] = []
        name = next((name for name in _ASSEMBLY if name in record.result.stages), None)
        if stage is None or name is None:
            return
        self.source = _ASSEMBLY[name]
        locations = _locations(record, stage)
        self._lines = [
            [locations.locations[index] for index in indices] for indices in locations.line_locations
        ]
        assembly = record.result.stages[name]
        found = _locations(record, assembly)
        self._assembly = Assembly(record.text(assembly.text), found.locations, found.line_locations)

    def of(self, line: int, use: Use) -> tuple[Emitted, ...]:
        if not 0 < line <= len(self._lines):
            return ()
        return self._assembly.emitted(self._lines[line - 1], use)


def _locations(record: Record, stage: StageEntry) -> StageLocations:
    return msgspec.json.decode(record.read(stage.locations), type=StageLocations)
