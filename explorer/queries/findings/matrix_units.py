"""Matrix products that are computed without the matrix units."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.queries.findings.case import Case
from explorer.queries.findings.changes import line_changes
from explorer.queries.findings.finding import Change, Finding, Value

TITLE = "Matrix products without matrix units"
#: The products of fp32 that matrix units can compute, with the bits of their mantissa, the most exact first.
_PRECISIONS = {"bf16x6": 24, "tf32x3": 22, "bf16x3": 16, "tf32": 11}


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding for each `tl.dot` that no matrix instruction computes."""
    has_tf32 = "tensor tf32" in case.target.operations_per_clock
    for each in case.layouts.matrix_products:
        if each.operation != "tt.dot" or each.emitted or each.tile or not case.machine_code:
            continue
        line, is_in_loop = case.source_line(each.line), case.in_loop(each.line)
        elements = {case.layouts.layouts[index].element for index in each.operands[:2] if index is not None}
        yield Finding(
            rule="matrix_units",
            severity="warning" if is_in_loop else "note",
            text="`tl.dot` is computed without the matrix units.",
            evidence=(Value("matrix instructions", 0, "", "observed"),),
            cause=f"Its operands are {' and '.join(sorted(elements))}."
            if elements & {"f32", "f64"}
            else "Its tile is smaller than an instruction of the matrix units, or its type has none.",
            advice=f"Use {_types(has_tf32=has_tf32)}, in a tile of at least 16×16×16.",
            source_line=line,
            ttgir_line=each.line,
            lines=case.machine_lines([line]),
            changes=tuple(_changes(case, line)) if elements == {"f32"} and has_tf32 and is_in_loop else (),
            tour="matrix_cores",
            terms=("tensor-core",),
        )


def _types(*, has_tf32: bool) -> str:
    """Name operands that the matrix units of the target multiply. Triton refuses tf32 where they do not."""
    small = "fp16, bf16 or fp8 operands"
    if not has_tf32:
        return small
    bits = _PRECISIONS["tf32"]
    return f'{small}, or fp32 with `input_precision="tf32"` if its {bits} bits of mantissa are enough'


def _changes(case: Case, line: int) -> Iterator[Change]:
    """Propose less exact products, where the source asks for exact ones."""
    for precision, bits in _PRECISIONS.items():
        words = f"`{precision}`, so that a product has about {bits} bits of mantissa in place of 24"
        edits = case.editable.with_precision(line, precision)
        yield from line_changes(edits, words, is_exact=False)
