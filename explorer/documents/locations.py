"""The source locations of the lines of a stage."""

from __future__ import annotations

import msgspec

from explorer.analysis.assembly.operations import operation_lines, operations_by_source_line
from explorer.model import Frame
from explorer.store import Record, StageEntry

#: Index of the file, line, column, function.
FrameRow = tuple[int, int, int, str]


class LocationsDocument(msgspec.Struct, frozen=True):
    """The source locations of the lines of a stage.

    `locations` are lists of frames, innermost first. A frame is the index of its file in `files`, line,
    column and function; the file "" is the user's source. `lines[i]` are indices into `locations` for line
    i+1, and `source_lines[i]` the lines of the user's source that it comes from, as `source_files` of the
    compilation numbers them. `operations` is the number of lines that are operations or instructions;
    `source_line_operations` has pairs of a line of the user's source and the number of operations that come
    from it.
    """

    files: list[str]
    locations: list[list[FrameRow]]
    lines: tuple[tuple[int, ...], ...]
    source_lines: list[tuple[int, ...]]
    operations: int
    source_line_operations: list[tuple[int, int]]

    @classmethod
    def of(cls, record: Record, stage: StageEntry) -> LocationsDocument:
        stored = record.locations(stage)
        is_operation = operation_lines(record.lines(stage.text), stage.language)
        files: dict[str, int] = {}
        rows = [[_row(frame, files) for frame in location.frames] for location in stored.locations]
        source_lines = stored.source_lines(record.source_numbers)
        counts = operations_by_source_line(is_operation, source_lines)
        return cls(
            list(files), rows, stored.line_locations, source_lines, sum(is_operation), list(counts.items())
        )


def _row(frame: Frame, files: dict[str, int]) -> FrameRow:
    return (files.setdefault(frame.file, len(files)), frame.line, frame.column, frame.function)
