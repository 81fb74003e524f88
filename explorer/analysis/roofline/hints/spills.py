"""Hint: values are spilled to local memory because a thread has too few registers."""

from __future__ import annotations

from collections import Counter

from explorer.analysis.assembly.heat import opcode_of
from explorer.analysis.roofline.documents import Evidence, Hint
from explorer.analysis.roofline.hints.case import Case
from explorer.analysis.roofline.hints.tried import LESS_PER_WARP
from explorer.model import Resources

_SPILLS = ("LDL", "STL")
_MOST = 2**48
#: Fewer bytes per thread are seldom felt.
_MANY_BYTES = 64


def find(case: Case) -> Hint | None:
    """Return the hint if the assembler spilled registers."""
    resources = case.facts.resources
    stores = min((resources.spill_stores_bytes or 0) if resources else 0, _MOST)
    loads = min((resources.spill_loads_bytes or 0) if resources else 0, _MOST)
    if not are_many(resources):
        return None
    evidence = [
        Evidence("bytes stored by spills, per thread", float(stores), "B", "static"),
        Evidence("bytes loaded by spills, per thread", float(loads), "B", "static"),
    ]
    line, share = _sampled(case)
    if share is not None:
        evidence.append(Evidence("samples at loads and stores of spills", share, "%", "measured"))
    time = case.facts.time_ns
    return case.hint(
        "spills",
        f"Spills of a thread store {stores:,} bytes and load {loads:,}",
        "A thread has no register left for some values, so that they are stored in local memory and loaded "
        "again. Use more warps per block or smaller tiles, raise maxnreg if it is set, or keep fewer "
        "tensors alive at the same time. The Registers pane shows them.",
        evidence,
        line,
        share * time if share is not None and time else None,
        cost="Smaller tiles load shared operands more often. More warps exchange more data through shared "
        "memory.",
        change=LESS_PER_WARP,
    )


def are_many(resources: Resources | None) -> bool:
    """Return whether a thread spills so many bytes that it costs time."""
    if resources is None:
        return False
    return (resources.spill_stores_bytes or 0) + (resources.spill_loads_bytes or 0) >= _MANY_BYTES


def _sampled(case: Case) -> tuple[int, float | None]:
    """Return the source line with the most samples at spills, and the share of all samples at spills."""
    heat, samples = case.facts.heat, case.facts.samples
    if heat is None or heat.reason or samples is None:
        return 0, None
    spills = {each.offset_bytes for each in samples.instructions if opcode_of(each.instruction) in _SPILLS}
    by_line: Counter[int] = Counter()
    for each in heat.instructions:
        if each.offset_bytes in spills:
            by_line[each.source_line] += each.samples
    line = max(by_line, key=lambda each: by_line[each], default=0)
    return line, min(1.0, by_line.total() / heat.samples)
