"""The source line of each line of a stored stage."""

from __future__ import annotations

import msgspec

from explorer.store import Record, StageEntry
from explorer.store.entries import StageLocations


def source_lines(record: Record, stage: StageEntry) -> list[int]:
    """For each line of the stage the innermost line in the user's own source; 0: none."""
    stored = msgspec.json.decode(record.read(stage.locations), type=StageLocations)
    own = [
        next((frame.line for frame in location.frames if frame.file == "" and frame.line > 0), 0)
        for location in stored.locations
    ]
    return [next((own[index] for index in indices if own[index]), 0) for indices in stored.line_locations]
