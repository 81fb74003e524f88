"""What the interpreter counts."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.measurements.limits import MOST_KINDS, MOST_OPERATIONS, check_count, check_name
from explorer.model import LineNumber


@dataclass(frozen=True)
class OperationCount:
    """What the interpreter has counted of one operation of the source, over all counted programs.

    `requested_bytes` are those of the lanes that the mask lets through; `sectors` the different 32-byte
    pieces that each execution in a program touches, added up; `flops` those of the operation's definition,
    also of lanes that a mask keeps out later: what blocks are padded with counts.
    """

    line: LineNumber
    operation: str
    executions: int
    requested_bytes: int = 0
    sectors: int = 0
    flops: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError for what is no operation."""
        check_name(self.operation, "an operation's name")


@dataclass(frozen=True)
class Counts:
    """What the interpreter has counted.

    `programs` were run of the `grid_programs` of the launch. `loaded_sectors` and `stored_sectors` are the
    different 32-byte pieces that each program touches, added up, `sectors_in_grid` the different ones over
    the whole grid. Atomic operations count as stores. `flops` are by type: "fp32", "tensor fp16" for
    tl.dot, "special fp32" for exp, log, sqrt and the like.
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

    def __post_init__(self) -> None:
        """Raise ValueError for more than a page can show."""
        check_count(self.operations, MOST_OPERATIONS, "operations of a source")
        check_count(self.flops, MOST_KINDS, "kinds of operations")
