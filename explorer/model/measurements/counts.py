"""The counts of the interpreter."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.model.basics import LineNumber
from explorer.model.measurements.kind import MeasurementDocument
from explorer.model.measurements.limits import MOST_KINDS, MOST_OPERATIONS, check_count, check_name


@dataclass(frozen=True, slots=True)
class OperationCount:
    """The counts of one operation of the source, over all counted programs.

    `requested_bytes` are the bytes of unmasked lanes. `sectors` are the distinct 32-byte sectors of each
    execution in a program, added up. `flops` follow the operation's definition, including lanes that are
    masked later: padding of blocks counts.
    """

    line: LineNumber
    operation: str
    executions: int
    requested_bytes: int = 0
    sectors: int = 0
    flops: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError for a name that is too long."""
        check_name(self.operation, "an operation's name")


@dataclass(frozen=True, slots=True)
class Counts(MeasurementDocument):
    """The counts of a launch.

    `programs` is the number of programs that were run, of the `grid_programs` of the launch. `loaded_sectors`
    and `stored_sectors` are the distinct 32-byte sectors of each program, added up. `sectors_in_grid` are the
    distinct sectors of the whole grid; `loaded_sectors_in_grid` are the sectors that the grid reads,
    `stored_sectors_in_grid` the sectors that it writes (both are 0 in older runs). Atomic operations count as
    stores, and in the grid also as loads; they have no flops (older runs count their additions). `flops` are
    by type: "fp32", "tensor fp16" for tl.dot, "special fp32" for exp, log, sqrt and the like.
    """

    programs: int
    grid_programs: int
    operations: tuple[OperationCount, ...]
    loaded_bytes: int
    stored_bytes: int
    loaded_sectors: int
    stored_sectors: int
    sectors_in_grid: int
    flops: dict[str, int]
    loaded_sectors_in_grid: int = 0
    stored_sectors_in_grid: int = 0

    def __post_init__(self) -> None:
        check_count(self.operations, MOST_OPERATIONS, "operations of a source")
        check_count(self.flops, MOST_KINDS, "kinds of operations")
