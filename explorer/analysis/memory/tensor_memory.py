"""The map of tensor memory (Blackwell): the columns, rows and lifetime of each allocation.

In: the module after the pass that allocates tensor memory: its `ttng.tmem_alloc` operations have the
addresses. Out: a `TensorMemoryMap` for each function with tensor memory. The module does not state the
lifetime of an allocation: it is shown from the first to the last operation that mentions it.

Each of four warps can access 32 rows. A matrix of 128 rows takes all of them. A matrix of 64 rows takes 16
rows of each warp, so that a second matrix can take the other 16 rows of the same columns.

Source: `tensor_memory_col_offset`, `tensor_memory_row_offset` and `ttg.tensor_memory_size`, set by
lib/Dialect/TritonNvidiaGPU/Transforms/TensorMemoryAllocation.cpp of Triton 3.6 and 3.9; the number of rows
and columns by `getTmemAllocSizes` in lib/Dialect/TritonNvidiaGPU/IR/Dialect.cpp, and the layouts by
`tensorMemoryToLinearLayout` in lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from explorer.analysis.memory.shared_memory import Bytes, SharedMemory
from explorer.analysis.mlir.operations import Function, Operation, read_functions, shown_name
from explorer.model.hardware import TENSOR_MEMORY_CELL_BITS, TENSOR_MEMORY_COLUMNS, TENSOR_MEMORY_ROWS

_COLUMN = re.compile(r"tensor_memory_col_offset = (\d+)")
_ROW = re.compile(r"tensor_memory_row_offset = (\d+)")
_TOTAL = re.compile(r"ttg\.tensor_memory_size = (\d+)")
_TYPE = re.compile(r"!ttg\.memdesc<((?:\d+x)+)([a-z]\w*), (#\w+)")
_ALIAS = re.compile(r"^(#\w+) = (#ttng\.tensor_memory_(?:scales_)?encoding<.*>)$", re.MULTILINE)
_BITS = re.compile(r"(\d+)")
_FIELD = re.compile(r"(\w+) = (\d+|true)")
_CLUSTER_BASIS = re.compile(r"\[(\d+), (\d+)\]")

#: The rows that one warp can access.
_WARP_ROWS = TENSOR_MEMORY_ROWS // 4
#: Scales: the rows of a matrix that lie below each other, and the scales of a row in one column.
_SCALE_ROWS, _SCALES_PER_COLUMN = 32, 4

#: The first and the last of neighboring rows.
RowRange = tuple[int, int]


@dataclass(frozen=True)
class TensorBuffer:
    """An allocation: its first column and row, and the number of each (None: unknown for this layout).

    `row_ranges` has all its rows; it is empty if they are unknown. An allocation is shown from the operation
    that makes it to the last operation that mentions it. The lines of both in the module and the source are
    given.
    """

    name: str
    type: str
    column: int
    row: int
    columns: int | None
    rows: int | None
    row_ranges: tuple[RowRange, ...]
    start: int
    end: int
    first_line: int
    last_line: int
    first_source_line: int
    last_source_line: int
    last_operation: str


@dataclass(frozen=True)
class TensorMemoryMap:
    """Tensor memory of one function. A block requests `allocated_columns` when it starts."""

    function: str
    operations: int
    allocated_columns: int
    limit_columns: int
    limit_rows: int
    buffers: tuple[TensorBuffer, ...]


def map_tensor_memory(text: str, source_lines: Sequence[int]) -> list[TensorMemoryMap]:
    """Make the map of each function with tensor memory; `source_lines` has the lines' source lines."""
    total = _TOTAL.search(text)
    encodings = dict(_ALIAS.findall(text))
    maps = []
    for function in read_functions(text):
        buffers = _buffers(function, encodings, source_lines)
        if buffers:
            columns = int(total[1]) if total else 0
            maps.append(
                TensorMemoryMap(
                    function.name,
                    len(function.operations),
                    columns,
                    TENSOR_MEMORY_COLUMNS,
                    TENSOR_MEMORY_ROWS,
                    buffers,
                )
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

    def described(operation: Operation, last: Operation) -> TensorBuffer:
        row = _number(_ROW, operation.text)
        rows, columns = _size(operation, encodings) or (None, None)
        return TensorBuffer(
            name=re.sub(r"(?<=\D)_\d+$", "", shown_name(operation.results[0])).removeprefix("%"),
            type=_type(operation),
            column=_number(_COLUMN, operation.text),
            row=row,
            columns=columns,
            rows=rows,
            row_ranges=_row_ranges(row, rows) if rows else (),
            start=operation.position,
            end=last.position + 1,
            first_line=operation.line,
            last_line=last.line,
            first_source_line=source_line(operation),
            last_source_line=source_line(last),
            last_operation=last.name,
        )

    return tuple(described(operation, users[index][-1]) for index, operation in enumerate(allocations))


def _number(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.search(text)
    return int(found[1]) if found else 0


def _type(operation: Operation) -> str:
    found = _TYPE.search(operation.text)
    return f"{found[1]}{found[2]}" if found else ""


def _row_ranges(first: int, rows: int) -> tuple[RowRange, ...]:
    """Return the rows of an allocation: all rows, or the same rows of each warp."""
    if rows == TENSOR_MEMORY_ROWS:
        return ((first, first + rows - 1),)
    of_warp = rows * _WARP_ROWS // TENSOR_MEMORY_ROWS
    return tuple(
        (start, start + of_warp - 1) for start in range(first, first + TENSOR_MEMORY_ROWS, _WARP_ROWS)
    )


def _size(operation: Operation, encodings: Mapping[str, str]) -> tuple[int, int] | None:
    """Return the rows and the columns of 32 bits that an allocation takes; None for an unknown layout."""
    found = _TYPE.search(operation.text)
    encoding = encodings.get(found[3], "") if found else ""
    bits = _BITS.search(found[2]) if found else None
    if not found or not encoding or bits is None:
        return None
    *buffers, height, width = (int(size) for size in found[1].rstrip("x").split("x"))
    fields = {name: 1 if value == "true" else int(value) for name, value in _FIELD.findall(encoding)}
    height, width = _of_block(height, width, encoding, fields)
    if "scales_encoding" in encoding:
        columns = math.ceil(height / _SCALE_ROWS) * math.ceil(width / _SCALES_PER_COLUMN)
        return TENSOR_MEMORY_ROWS, math.prod(buffers) * columns
    tile_height, tile_width = fields.get("blockM", 0), fields.get("blockN", 0)
    # A second tile of 64 rows takes the other half of the rows. Two blocks that multiply together have a
    # tile of 128 rows.
    is_half = height <= tile_height == TENSOR_MEMORY_ROWS // 2 and width <= tile_width
    rows = TENSOR_MEMORY_ROWS // 2 if is_half and "twoCTAs" not in fields else TENSOR_MEMORY_ROWS
    element_bits = int(bits[1]) * fields.get("colStride", 1) * (2 if "fp4Padded" in fields else 1)
    return rows, math.prod(buffers) * height * width * element_bits // (rows * TENSOR_MEMORY_CELL_BITS)


def _of_block(height: int, width: int, encoding: str, fields: Mapping[str, int]) -> tuple[int, int]:
    """Return the part of a matrix that each block of a cluster has."""
    height //= fields.get("CTASplitM") or 1
    width //= fields.get("CTASplitN") or 1
    for of_height, of_width in _CLUSTER_BASIS.findall(encoding):
        height //= 1 if of_height == "0" else 2
        width //= 1 if of_width == "0" else 2
    return height, width
