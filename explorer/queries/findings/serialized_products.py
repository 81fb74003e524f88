"""Matrix instructions that ptxas serializes: each waits until the one before has ended."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.analysis.assembly.ptxas_messages import reason_of_serialization
from explorer.queries.findings.case import Case
from explorer.queries.findings.changes import more_warps, smaller_blocks
from explorer.queries.findings.finding import Finding, Value

TITLE = "Matrix instructions that wait for each other"
_REGISTERS = "insufficient register resources"
_FEW_REGISTERS = "a thread has too few registers for the operands and results of instructions in flight"
_ADVICE = "Use more warps or a smaller tile, so that a thread holds less of the operands and the results."


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding for each message of ptxas that says why it serializes matrix instructions."""
    for each in case.result.diagnostics:
        reason = reason_of_serialization(each.message)
        if not reason:
            continue
        needs_registers, registers = reason.startswith(_REGISTERS), case.resources.registers
        yield Finding(
            rule="serialized_products",
            severity="warning",
            text="The matrix instructions wait for each other, because of this: "
            f"{_FEW_REGISTERS if needs_registers else reason}.",
            evidence=() if registers is None else (Value("registers per thread", registers, "", "observed"),),
            cause=each.message,
            advice=_ADVICE if needs_registers else each.hint,
            source_line=each.line,
            lines=((each.stage_line, each.stage_line),)
            if each.stage_line and each.stage == case.machine_code
            else (),
            changes=(*more_warps(case), *smaller_blocks(case)) if needs_registers else (),
            tour="matrix_cores",
            terms=("tensor-core", "register-pressure"),
        )
