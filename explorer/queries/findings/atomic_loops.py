"""Atomic operations that become loops of compare-and-swap, in place of one instruction."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.analysis.assembly.atomics import atomic_instructions, is_compare_and_swap, loop_reason
from explorer.analysis.mlir.texts import AtomicOperation, atomic_operations
from explorer.queries.findings.case import Case
from explorer.queries.findings.finding import Finding, Value
from explorer.queries.why_facts import code, counted, listed

TITLE = "Atomic operations as loops"
#: For additions of floating-point numbers, by vendor.
_ADVICE = {
    "NVIDIA": "Add to values of fp32, for which the target has an instruction.",
    "AMD": "Add to values of fp32 in a tensor within 2 GiB: Triton 3.9 makes a buffer operation of it.",
}


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding for each atomic operation that becomes a loop of compare-and-swap."""
    operations = list(atomic_operations(case.functions))
    chosen = {case.source_line(each.line) for each in operations if each.name == "cas"}
    for each in operations:
        line = case.source_line(each.line)
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
            text=f"{code(each.name)} of {each.element} becomes {counted(len(found), 'instruction')} of "
            f"compare-and-swap, {'each ' * (len(found) > 1)}in a loop ({names}).",
            evidence=(Value("instructions that compare and swap", len(found), "", "observed"),),
            cause="A lane repeats the operation until no other lane has changed the value in between. "
            + loop_reason(case.target.architecture, *each[1:]),
            advice=_advice(case, each),
            source_line=line,
            ttgir_line=each.line,
            lines=lines,
        )


def _advice(case: Case, operation: AtomicOperation) -> str:
    advice = [_ADVICE[case.target.vendor]] if operation.name == "fadd" else []
    # On RDNA 3 the scope helps by the buffer operations that it allows, which include additions of floats.
    is_wide = case.target.vendor == "AMD" and operation.scope == "sys"
    if is_wide and (case.target.architecture.startswith("gfx9") or advice):
        advice.insert(0, 'Use `scope="gpu"` if only this GPU accesses the tensor.')
    return " ".join(advice)


def _compare_and_swaps(case: Case, ranges: tuple[tuple[int, int], ...]) -> Iterator[str]:
    """Yield the lines of machine code that compare and swap."""
    for first, last in ranges:
        for one in case.machine_text[first - 1 : last]:
            if any(map(is_compare_and_swap, atomic_instructions([one]))):
                yield one
