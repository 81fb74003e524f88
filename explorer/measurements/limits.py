"""How much a measurement's document may hold: what a page can draw, and a server look through at once.

A document of the right type may still be forged. It raises ValueError where it is made, and where it is read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

#: A short document may describe a table that no machine can hold: names by rows.
MOST_CELLS = 200_000
MOST_LINES = 100
MOST_CONFIGS = 5_000
#: What went wrong in a sweep; the others are counted.
MOST_PROBLEMS = 1_000
#: Arguments of a kernel, compiler options, tensors that it writes.
MOST_ARGUMENTS = 1_000
#: Of a tensor: PyTorch has no more.
MOST_DIMENSIONS = 64
MOST_GRID_DIMENSIONS = 3
#: Of one launch: by each method, with each state of the cache.
MOST_TIMINGS = 10
#: How often one launch is timed; of more, every so many is told.
MOST_TIMED = 500
#: Looks at the state of a GPU.
MOST_CONDITIONS = 10
#: What is beyond these, `Timeline.cut` counts.
MOST_SCOPES = 20_000
MOST_SCOPE_NAMES = 1_000
#: Eleven days: up to there, numbers in a browser tell one nanosecond from the next.
MOST_SCOPE_NS = 1e15
#: No block, multiprocessor or warp has a larger number.
MOST_PLACE = 2**31
MOST_NAME_CHARACTERS = 200
MOST_INSTRUCTION_CHARACTERS = 1_000
MOST_INSTRUCTIONS = 100_000
MOST_OPERATIONS = 20_000
#: Kinds of operations, reasons to wait, pipes, roofs: the hardware has a few dozens.
MOST_KINDS = 100
MOST_METRICS = 5_000
MOST_FILES = 100


def check_count(held: Collection[object], most: int, what: str) -> None:
    """Raise ValueError for more than `most` of something, or a text that is longer."""
    if len(held) > most:
        raise ValueError(f"{len(held):,} {what}; at most {most:,} are shown")


def check_name(text: str, what: str) -> None:
    """Raise ValueError for a text that is too long to be a name."""
    check_count(text, MOST_NAME_CHARACTERS, f"characters of {what}")


def check_cells(rows: int, columns: int) -> None:
    """Raise ValueError for what is no table."""
    if rows * columns > MOST_CELLS:
        raise ValueError(f"{rows:,} rows of {columns:,} columns are no table; one has {MOST_CELLS:,} cells")


def check_range(numbers: Iterable[float], most: float, what: str) -> None:
    """Raise ValueError for a number that is negative or larger than `most`."""
    if not all(0 <= number <= most for number in numbers):
        raise ValueError(f"the {what} is out of range")
