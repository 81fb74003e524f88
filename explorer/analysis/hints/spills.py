"""Registers that do not suffice, so that values are kept in local memory."""

from __future__ import annotations

from collections import Counter

from explorer.analysis.heat import opcode_of
from explorer.analysis.hints.case import Case
from explorer.analysis.roofline.documents import Evidence, Hint

_SPILLS = ("LDL", "STL")
_MOST = 2**48


def find(case: Case) -> Hint | None:
    """Where the assembler has spilled."""
    resources = case.facts.resources
    stores = min((resources.spill_stores_bytes or 0) if resources else 0, _MOST)
    loads = min((resources.spill_loads_bytes or 0) if resources else 0, _MOST)
    if stores <= 0 and loads <= 0:
        return None
    evidence = [
        Evidence("bytes stored by spills, in the code of a thread", float(stores), "B", "static"),
        Evidence("bytes loaded", float(loads), "B", "static"),
    ]
    line, share = _sampled(case)
    if share is not None:
        evidence.append(Evidence("samples at the loads and stores of spills", share, "%", "measured"))
    time = case.facts.time_ns
    return case.hint(
        "spills",
        f"{stores + loads:,} bytes of registers are spilled",
        "A thread has no register left for some values: they go to local memory and back. Take smaller "
        "blocks or more "
        "warps, raise maxnreg if it is set, or keep fewer tensors alive at once (the pane Registers shows "
        "which).",
        evidence,
        line,
        share * time if share is not None and time else None,
    )


def _sampled(case: Case) -> tuple[int, float | None]:
    """The source line with the most samples at spills, and the share of all samples there."""
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
