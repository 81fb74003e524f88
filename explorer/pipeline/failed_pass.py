"""The operation that a pass worked on when it failed, and the source lines that it may come from.

MLIR says in its debug output which operation it visits. The output is too long for every compilation, so the
pass runs again, in a forked copy of this process, on the module before it.

Source: GreedyPatternRewriteDriver.cpp and DialectConversion.cpp of MLIR, and `TRITON_LLVM_DEBUG_ONLY` of
python/src/ir.cc of Triton, 3.6 and 3.9.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.model import LineNumber
from explorer.pipeline import time_limit
from explorer.pipeline.forked_copy import ForkedCopy
from explorer.pipeline.locations import LocationTable
from explorer.pipeline.stages.mlir import read_module
from explorer.pipeline.user_source import source_numbers

_DEBUGGED = "greedy-rewriter,dialect-conversion"
_VISIT = re.compile(r"^\[[\w-]+:\d+\]\s+(?:Processing|Legalizing) operation : '([\w.]+)'|"
                    r"^(?:Processing|Legalizing) operation : '([\w.]+)'", re.MULTILINE)  # fmt: skip
_KIND = re.compile(r'^(?:%[^=]+= )?"?([a-z_]\w*\.[\w.]+)')
_SECONDS = 10.0
#: The time of a job that is left for its end.
_RESERVED_SECONDS = 2.0
_MOST_BYTES = 1 << 16
_MOST_LINES = 5
_STANDARD_ERROR = 2


@dataclass(frozen=True)
class WorkedOn:
    """A kind of operation, and the source lines of all operations of this kind, at most five."""

    kind: str
    lines: tuple[LineNumber, ...]

    @property
    def words(self) -> str:
        """The lines in a sentence."""
        names = [source_numbers().words(line) for line in self.lines]
        return (
            f"The pass worked on a `{self.kind}`. The module before it has this operation in "
            f"{', '.join(names)}."
        )


def find_worked_on(run: Callable[[Any], None], context: Any, text: str) -> WorkedOn | None:
    """Return the last operation that a pass visits.

    `run` runs the pass on a module, and `text` is the module before it, with locations.
    Return None if it visits none, or none that comes from a line of the user's source.
    """
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as output:
        path = Path(folder, "module.mlir")
        path.write_text(text, encoding="utf-8")
        seconds = min(_SECONDS, time_limit.remaining_seconds() - _RESERVED_SECONDS)
        for _ in ForkedCopy(_again(run, context, path, output.fileno())).values(seconds):
            pass
        begin = max(0, os.fstat(output.fileno()).st_size - _MOST_BYTES)
        printed = os.pread(output.fileno(), _MOST_BYTES, begin).decode(errors="replace")
    visits = [found[1] or found[2] for found in _VISIT.finditer(printed)]
    lines = lines_of(visits[-1], text) if visits else ()
    return WorkedOn(visits[-1], lines) if lines else None


def _again(run: Callable[[Any], None], context: Any, path: Path, output: int) -> Iterator[None]:
    from triton._C.libtriton import ir

    module = ir.parse_mlir_module(str(path), context)
    module.context = context
    os.dup2(output, _STANDARD_ERROR)
    os.environ["TRITON_LLVM_DEBUG_ONLY"] = _DEBUGGED
    run(module)
    yield


def lines_of(kind: str, text: str) -> tuple[LineNumber, ...]:
    """Return the lines of the user's source that the operations of a kind come from, at most five."""
    table = LocationTable()
    shown = read_module(text, table).splitlines()
    locations = table.locations
    lines = (
        source_numbers().number_of(locations[index])
        for line, indices in zip(shown, table.lines, strict=False)
        if (found := _KIND.match(line.strip())) and found[1] == kind
        for index in indices
    )
    return tuple(dict.fromkeys(filter(None, lines)))[:_MOST_LINES]
