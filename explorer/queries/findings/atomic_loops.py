"""Atomic operations without an instruction of their own: a loop of compare-and-swap takes their place."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.analysis.assembly.atomics import atomic_instructions, is_compare_and_swap
from explorer.analysis.mlir.texts import atomic_operations
from explorer.queries.findings.case import Case
from explorer.queries.findings.finding import Finding, Value
from explorer.queries.why_facts import code, counted, listed

TITLE = "Atomic operations without an instruction"
#: For additions of floating-point numbers, by vendor.
_ADVICE = {
    "NVIDIA": "Add to values of fp32, for which the target has an instruction.",
    "AMD": "Add to values of fp32 in a tensor within 2 GiB: Triton 3.9 makes a buffer operation of it.",
}


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding for each atomic operation that becomes a loop of compare-and-swap."""
    operations = list(atomic_operations(case.functions))
    chosen = {case.source_line(number) for number, name, _ in operations if name == "cas"}
    for number, name, type_name in operations:
        line = case.source_line(number)
        if line in chosen:
            continue
        lines = case.machine_lines([line])
        found = list(_compare_and_swaps(case, lines))
        if not found:
            continue
        names = listed(map(code, atomic_instructions(found)))
        yield Finding(
            rule="atomic_loops",
            severity="warning",
            text=f"{code(name)} of {type_name} becomes {counted(len(found), 'instruction')} of "
            f"compare-and-swap, {'each ' * (len(found) > 1)}in a loop ({names}).",
            evidence=(Value("instructions that compare and swap", len(found), "", "observed"),),
            cause="The compiler makes no atomic instruction of this operation, so that a lane repeats it "
            "until no other lane has changed the value in between.",
            advice=_ADVICE[case.target.vendor] if name == "fadd" else "",
            source_line=line,
            ttgir_line=number,
            lines=lines,
        )


def _compare_and_swaps(case: Case, ranges: tuple[tuple[int, int], ...]) -> Iterator[str]:
    """Yield the lines of machine code that compare and swap."""
    for first, last in ranges:
        for one in case.machine_text[first - 1 : last]:
            if any(map(is_compare_and_swap, atomic_instructions([one]))):
                yield one
