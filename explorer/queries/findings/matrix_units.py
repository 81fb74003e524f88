"""Matrix products that are computed without the matrix units."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.queries.findings.case import Case
from explorer.queries.findings.finding import Finding, Value

TITLE = "Matrix products without matrix units"


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding for each `tl.dot` that no matrix instruction computes."""
    for each in case.layouts.matrix_products:
        if each.operation != "tt.dot" or each.emitted or each.tile or not case.machine_code:
            continue
        line = case.source_line(each.line)
        elements = {case.layouts.layouts[index].element for index in each.operands[:2] if index is not None}
        yield Finding(
            rule="matrix_units",
            severity="warning" if case.in_loop(each.line) else "note",
            text="`tl.dot` is computed without the matrix units.",
            evidence=(Value("matrix instructions", 0, "", "observed"),),
            cause=f"Its operands are {' and '.join(sorted(elements))}."
            if elements & {"f32", "f64"}
            else "Its tile is smaller than an instruction of the matrix units, or its type has none.",
            advice=f"Use {_types(case)}, in a tile of at least 16×16×16.",
            source_line=line,
            ttgir_line=each.line,
            lines=case.machine_lines([line]),
            tour="matrix_cores",
            terms=("tensor-core",),
        )


def _types(case: Case) -> str:
    """Name operands that the matrix units of the target multiply. Triton refuses tf32 where they do not."""
    small = "fp16, bf16 or fp8 operands"
    if "tensor tf32" not in case.target.operations_per_clock:
        return small
    return f'{small}, or fp32 with `input_precision="tf32"` if its 10 bits of mantissa are enough'
