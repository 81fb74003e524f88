"""The map of tensor memory (Blackwell): which columns and rows each allocation has, and when it is used.

In: the module after the pass that allocates tensor memory, whose `ttng.tmem_alloc` say where they lie. Out:
a `TensorMemoryMap` for each function that has some. How long an allocation lives is not said: it is shown
from the first to the last operation that mentions it.

Source: `tensor_memory_col_offset`, `tensor_memory_row_offset` and `ttg.tensor_memory_size`, set by
lib/Dialect/TritonNvidiaGPU/Transforms/TensorMemoryAllocation.cpp of Triton 3.6 and 3.9; the number of columns
by `getTmemAllocSizes` in lib/Dialect/TritonNvidiaGPU/IR/Dialect.cpp, for blocks of 128 rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from explorer.analysis.mlir_operations import Function, Operation, read_functions, shown_name
from explorer.analysis.shared_memory import Bytes, SharedMemory

COLUMNS = 512
ROWS = 128

_COLUMN = re.compile(r"tensor_memory_col_offset = (\d+)")
_ROW = re.compile(r"tensor_memory_row_offset = (\d+)")
_TOTAL = re.compile(r"ttg\.tensor_memory_size = (\d+)")
_TYPE = re.compile(r"!ttg\.memdesc<((?:\d+x)+)([a-z]\w*), (#\w+)")
_ALIAS = re.compile(r"^(#\w+) = (#ttng\.tensor_memory_encoding<.*>)$", re.MULTILINE)
_BITS = re.compile(r"(\d+)")


@dataclass(frozen=True)
class TensorBuffer:
    """An allocation: its first column and row, and how many it has (None: not known for this layout).

    It is shown from the operation that makes it to the last one that mentions it, whose lines in the module
    and in the source are given, too.
    """

    name: str
    type: str
    column: int
    row: int
    columns: int | None
    rows: int
    start: int
    end: int
    first_line: int
    last_line: int
    first_source_line: int
    last_source_line: int
    last_operation: str


@dataclass(frozen=True)
class TensorMemoryMap:
    """Tensor memory of one function. `allocated_columns` is what a block asks for when it starts."""

    function: str
    operations: int
    allocated_columns: int
    limit_columns: int
    limit_rows: int
    buffers: tuple[TensorBuffer, ...]


def map_tensor_memory(text: str, source_lines: Sequence[int]) -> list[TensorMemoryMap]:
    """Make the map of each function that has tensor memory; `source_lines` are those of its lines."""
    total = _TOTAL.search(text)
    encodings = dict(_ALIAS.findall(text))
    maps = []
    for function in read_functions(text):
        buffers = _buffers(function, encodings, source_lines)
        if buffers:
            columns = int(total[1]) if total else 0
            maps.append(
                TensorMemoryMap(function.name, len(function.operations), columns, COLUMNS, ROWS, buffers)
            )
    return maps


def _buffers(
    function: Function, encodings: Mapping[str, str], source_lines: Sequence[int]
) -> tuple[TensorBuffer, ...]:
    allocations = [
        operation
        for operation in function.operations
        if operation.name == "ttng.tmem_alloc" and operation.results and _COLUMN.search(operation.text)
    ]
    explicit = {operation.results[0]: Bytes(index, 0, 1) for index, operation in enumerate(allocations)}
    users: dict[int, list[Operation]] = {}
    for operation, buffer in SharedMemory(function, explicit, {}).users():
        users.setdefault(buffer.index, []).append(operation)

    def source_line(operation: Operation) -> int:
        return source_lines[operation.line - 1] if operation.line <= len(source_lines) else 0

    return tuple(
        TensorBuffer(
            name=re.sub(r"(?<=\D)_\d+$", "", shown_name(operation.results[0])).removeprefix("%"),
            type=_type(operation),
            column=_number(_COLUMN, operation.text),
            row=_number(_ROW, operation.text),
            columns=_columns(operation, encodings),
            rows=_rows(operation, encodings),
            start=operation.position,
            end=users[index][-1].position + 1,
            first_line=operation.line,
            last_line=users[index][-1].line,
            first_source_line=source_line(operation),
            last_source_line=source_line(users[index][-1]),
            last_operation=users[index][-1].name,
        )
        for index, operation in enumerate(allocations)
    )


def _number(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.search(text)
    return int(found[1]) if found else 0


def _type(operation: Operation) -> str:
    found = _TYPE.search(operation.text)
    return f"{found[1]}{found[2]}" if found else ""


def _rows(operation: Operation, encodings: Mapping[str, str]) -> int:
    return 64 if "blockM = 64," in _encoding(operation, encodings) else ROWS


def _encoding(operation: Operation, encodings: Mapping[str, str]) -> str:
    found = _TYPE.search(operation.text)
    return encodings.get(found[3], "") if found else ""


def _columns(operation: Operation, encodings: Mapping[str, str]) -> int | None:
    """Columns of 32 bits. Blocks of 128 rows lie side by side; for other layouts this is not worked out."""
    found = _TYPE.search(operation.text)
    encoding = _encoding(operation, encodings)
    if not found or "blockM = 128," not in encoding:
        return None
    *tiles, rows, columns = (int(size) for size in found[1].rstrip("x").split("x"))
    bits = _BITS.search(found[2])
    stride = re.search(r"colStride = (\d+)", encoding)
    if bits is None or rows % ROWS:
        return None
    count = columns * (rows // ROWS) * int(bits[1]) * (int(stride[1]) if stride else 1) // 32
    for tile in tiles:
        count *= tile
    return count
