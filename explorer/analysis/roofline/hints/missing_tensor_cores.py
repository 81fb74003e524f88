"""Hint: a matrix product is computed without the matrix units."""

from __future__ import annotations

import re

from explorer.analysis.roofline.documents import Evidence, Hint
from explorer.analysis.roofline.hints.case import Case
from explorer.analysis.roofline.numbers import amount

_DOT = re.compile(r"^[^#]*\b(?:tl|gl|ttgl|language)\.dot\(")
#: The types whose rate is compared with the rate of fp32.
_INSTEAD = ("tensor tf32", "tensor fp16")


def find(case: Case) -> Hint | None:
    """Return the hint if the source has a dot and the machine code uses no matrix unit."""
    facts = case.facts
    if facts.tensor_instructions is not False:
        return None
    line = next((number for number, text in enumerate(facts.source_lines, 1) if _DOT.search(text)), 0)
    counted = [each for each in facts.counts.operations if "dot" in each.operation] if facts.counts else []
    flops = amount(float(sum(min(max(each.flops, 0), 2**80) for each in counted)))
    if not line and not flops:
        return None
    evidence = [Evidence("instructions for the matrix units in the machine code", 0.0, "", "static")]
    if flops:
        evidence.append(Evidence("operations of the matrix product", flops, "FLOP", "counted"))
    return case.hint(
        "missing_tensor_cores",
        "The matrix product does not use the matrix units",
        f"tl.dot is computed by the FMA units. For the matrix units its operands must be {_types(case)}, and "
        "its tile must be at least as large as an instruction of the matrix units.",
        evidence,
        line or (max(counted, key=lambda each: each.flops).line if counted else 0),
        _gain(case),
        cost="The product is less exact than in fp32: fp16 and tf32 have 10 bits of mantissa, bf16 has 7.",
    )


def _types(case: Case) -> str:
    """Name the operands that the matrix units of the GPU multiply. Triton refuses tf32 where they do not."""
    small = "fp16, bf16, fp8 or int8"
    has_tf32 = any(each.name == "tensor tf32" for each in case.facts.hardware.ceilings)
    return f'{small}, or fp32 with input_precision="tf32" (not "ieee")' if has_tf32 else small


def _gain(case: Case) -> float | None:
    """Return the time that the matrix units would save."""
    now = case.need_ns("fp32")
    slow = next((row for row in case.resources if row.name == "fp32"), None)
    fast = next((each.rate for each in case.facts.hardware.ceilings if each.name in _INSTEAD), None)
    if now is None or slow is None or fast is None:
        return None
    return now - max(slow.work.value / fast * 1e9, case.next_need_ns("fp32", "issue slots"))
