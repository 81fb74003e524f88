"""The source line of each line of a stored stage."""

from __future__ import annotations

from explorer.store import Record, StageEntry


def source_lines(record: Record, stage: StageEntry) -> list[int]:
    """For each line of the stage the innermost line in the user's own source; 0: none."""
    return [next(iter(lines), 0) for lines in record.locations(stage).source_lines()]
