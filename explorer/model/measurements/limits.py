"""The size limits of the documents of measurements: a page can draw and a server can process documents within
them.

A document of the right type may still be forged. A document beyond a limit raises ValueError when it is
created and when it is decoded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

#: The cells of a table. A short document may describe a huge table: names × rows.
MOST_CELLS = 200_000
MOST_LINES = 100
MOST_CONFIGS = 5_000
#: Problems of a sweep. Further problems are counted.
MOST_PROBLEMS = 1_000
#: Arguments of a kernel, compiler options, output tensors.
MOST_ARGUMENTS = 1_000
#: Dimensions of a tensor: PyTorch's limit.
MOST_DIMENSIONS = 64
MOST_GRID_DIMENSIONS = 3
#: Timings of one launch: one per method and state of the cache.
MOST_TIMINGS = 10
#: Samples of a timing. If there are more, an even selection is kept.
MOST_TIMED = 500
#: States of a GPU.
MOST_CONDITIONS = 10
#: Scopes of a timeline. `Timeline.cut` counts further scopes.
MOST_SCOPES = 20_000
MOST_SCOPE_NAMES = 1_000
#: Eleven days. Up to this value, JavaScript numbers have a resolution of one nanosecond.
MOST_SCOPE_NS = 1e15
#: The largest number of a block, multiprocessor or warp.
MOST_PLACE = 2**31
MOST_NAME_CHARACTERS = 200
MOST_INSTRUCTION_CHARACTERS = 1_000
MOST_INSTRUCTIONS = 100_000
MOST_OPERATIONS = 20_000
#: Kinds of operations, stall reasons, pipes, roofs: the hardware has a few dozen.
MOST_KINDS = 100
MOST_METRICS = 5_000
MOST_FILES = 100


def check_count(held: Collection[object], most: int, what: str) -> None:
    """Raise ValueError for more than `most` elements, or for a longer text."""
    if len(held) > most:
        raise ValueError(f"{len(held):,} {what}; at most {most:,} are shown")


def check_name(text: str, what: str) -> None:
    """Raise ValueError for a text that is too long for a name."""
    check_count(text, MOST_NAME_CHARACTERS, f"characters of {what}")


def check_cells(rows: int, columns: int) -> None:
    """Raise ValueError for a table with too many cells."""
    if rows * columns > MOST_CELLS:
        raise ValueError(f"{rows:,} rows of {columns:,} columns exceed the limit of {MOST_CELLS:,} cells")


def check_range(numbers: Iterable[float], most: float, what: str) -> None:
    """Raise ValueError for a number that is negative or larger than `most`."""
    if not all(0 <= number <= most for number in numbers):
        raise ValueError(f"the {what} is out of range")
