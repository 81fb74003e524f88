"""Tensor descriptors: the copy engine can load a tile for which the threads compute addresses."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.analysis.layouts.global_access import bytes_of_element
from explorer.analysis.mlir.regular_pointers import RegularPointers
from explorer.queries.findings.case import Case
from explorer.queries.findings.finding import Finding, Value
from explorer.queries.why_facts import code

TITLE = "Loads that a tensor descriptor can do"
#: The first architecture with a copy engine for boxes of tensors.
_FIRST_CAPABILITY = 90
#: The copy engine needs addresses and strides that are multiples of this, and rows that are no shorter.
_ROW_BYTES = 16


def find(case: Case) -> Iterator[Finding]:
    """Yield a note for each load of a tile in a loop that a matrix product uses."""
    if case.target.backend != "cuda" or int(case.target.triton_architecture) < _FIRST_CAPABILITY:
        return
    boxes = {each.line for found in case.functions for each in RegularPointers(found).boxes()}
    for each in case.accesses:
        if each.line not in boxes or each.layout is None or each.pointer is None:
            continue
        row = case.layouts.layouts[each.layout]
        if len(row.shape) != 2:
            continue
        rows, columns = row.shape
        row_bytes = columns * bytes_of_element(each.element)
        divisibility = each.pointer.divisibility[1]
        if each.pointer.contiguity[1] < columns or row_bytes < _ROW_BYTES or divisibility % _ROW_BYTES:
            continue
        line = case.source_line(each.line)
        yield Finding(
            rule="descriptors",
            severity="note",
            text=f"A tensor descriptor can load this tile of {rows}×{columns} {code(each.element)}: its "
            "rows are consecutive in memory, and a fixed stride apart.",
            evidence=(
                Value("consecutive bytes of a row", row_bytes, "B", "observed"),
                Value("divisor of the address of each row", divisibility, "B", "observed"),
            ),
            cause="Each thread computes the addresses of its elements. With a descriptor, one thread gives "
            "the copy engine the coordinates of the tile.",
            advice="Pass `TensorDescriptor.from_tensor(tensor, block_shape)` to the kernel in place of the "
            "pointer, and call its `load` in the loop with the coordinates of the first element. Elements "
            "outside of the tensor are 0: the load needs no mask if the bounds of the mask are the sizes of "
            "the tensor. `tl.make_tensor_descriptor` makes a descriptor in the kernel, and takes more time.",
            source_line=line,
            ttgir_line=each.line,
            lines=case.machine_lines([line]),
            tour="matrix_cores",
            terms=("descriptor", "tma"),
        )
