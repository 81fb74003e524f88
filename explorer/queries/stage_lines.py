"""The source line of each line of a stored stage."""

from __future__ import annotations

from explorer.store import Record, StageEntry


def source_lines(record: Record, stage: StageEntry) -> list[int]:
    """Return for each line of a stage the innermost line in the user's own files; 0: none."""
    return [next(iter(lines), 0) for lines in record.source_lines(stage)]
