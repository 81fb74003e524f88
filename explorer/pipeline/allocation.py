"""The allocation of shared memory, as the compiler's analysis reports it.

In: the pass that allocates, and the module after it. Out: an `Allocation` for each function of the module.

On request, the analysis prints its steps: for each buffer, the operation that the buffer belongs to. Then,
after each placement, `id size offset interval start end` and the pairs that must not overlap. The last
placement is final. The next round has to resolve the printed interference, so the interference is empty at
the end.

Source: lib/Analysis/Allocation.cpp of Triton 3.6 and 3.9, whose wheels are built with assertions.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

from explorer.model import Allocation, Buffer, LineNumber
from explorer.pipeline.locations import LocationTable
from explorer.pipeline.stages.mlir import read_module
from explorer.pipeline.tool_output import ToolOutput
from explorer.pipeline.user_source import source_numbers

_VARIABLE = "TRITON_LLVM_DEBUG_ONLY"
_TOPIC = "allocation-shared-memory"
_ALLOCATES = "allocate_shared_memory"

_OWNER = re.compile(r"^-- buffer (\d+); value: ", re.MULTILINE)
_PLACED = re.compile(r"^-- (\d+) (\d+) (\d+) interval (\d+) (\d+)$", re.MULTILINE)
_PLACEMENT = "Dump bufferRange"
_END = re.compile(r"^Allocated: (\d+), analyzed: \d+$", re.MULTILINE)
_EXPLICIT = re.compile(r"^%\S+ = ttg\.local_alloc\b")
_CALL = re.compile(r"^(?:%\S+ = )?tt\.call\b")
_MOST_CHARACTERS = 500
#: The end of a buffer that is live until the function returns: the largest size_t.
_FOR_EVER = 2**64 - 1


def allocates_shared_memory(function_name: str) -> bool:
    """Return whether the backend's function of this name adds the pass that allocates shared memory."""
    return _ALLOCATES in function_name


@contextlib.contextmanager
def allocation_printed(real_ir: Any, context: Any, output: ToolOutput) -> Iterator[Callable[[], str]]:
    """Make the compiler print its allocation in this context. The yielded function returns the text."""
    os.environ[_VARIABLE] = _TOPIC
    try:
        with output.capture() as read:
            yield read
    finally:
        # The debug topic stays active until passes run with another topic, even over an empty module. The
        # passes after this one repeat the analysis and would print it among the compiler's messages.
        os.environ[_VARIABLE] = "nothing"
        real_ir.pass_manager(context).run(real_ir.builder(context).create_module(), "")
        del os.environ[_VARIABLE]


def read_allocations(dump: str, pass_index: int, module: Any) -> list[Allocation]:
    """Read what the analysis printed about one module, function by function."""
    source_lines = _source_lines(str(module))
    allocations: list[Allocation] = []
    start = 0
    for end in _END.finditer(dump):
        section = dump[start : end.start()]
        start = end.end()
        owners = _owners(section)
        _, _, last = section.rpartition(_PLACEMENT)
        buffers = tuple(
            Buffer(index, _use(owner), size, offset, first, None if stop >= _FOR_EVER else stop, owner)
            for index, size, offset, first, stop in (map(int, row) for row in _PLACED.findall(last))
            for owner in [owners.get(index, "")]
        )
        allocations.append(Allocation(pass_index, len(allocations), buffers, int(end[1]), source_lines))
    return allocations


def _source_lines(raw: str) -> tuple[LineNumber, ...]:
    """Return the user's source line for each line of a module that was printed with locations; 0: none."""
    table = LocationTable()
    read_module(raw, table)
    own = [source_numbers().number_of(location) for location in table.locations]
    return tuple(next((own[index] for index in line if own[index]), 0) for line in table.lines)


def _owners(section: str) -> dict[int, str]:
    """Return the operation of each buffer: its text up to the next buffer or the first placement."""
    head, _, _ = section.partition(f"[{_TOPIC}]")
    marks = list(_OWNER.finditer(head))
    ends = [mark.start() for mark in marks[1:]] + [len(head)]
    return {
        int(mark[1]): _shortened(head[mark.end() : end].strip())
        for mark, end in zip(marks, ends, strict=False)
    }


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"


def _use(owner: str) -> Any:
    if _EXPLICIT.match(owner):
        return "explicit"
    return "virtual" if _CALL.match(owner) else "scratch"
