"""Hint: the rate at which instructions are issued limits the kernel."""

from __future__ import annotations

from explorer.analysis.roofline.documents import Evidence, Hint
from explorer.analysis.roofline.hints.case import Case
from explorer.analysis.roofline.numbers import percent

_BUSY = 0.6
_ISSUE = "smsp__issue_active.avg.pct_of_peak_sustained_active"


def find(case: Case) -> Hint | None:
    """Return the hint if the schedulers issue an instruction in most cycles."""
    time, need = case.facts.time_ns, case.need_ns("issue slots")
    busy = case.facts.busy(_ISSUE)
    if busy is None:
        busy = min(1.0, need / time) if need and time else None
    if busy is None or busy < _BUSY:
        return None
    executed = next((row.work for row in case.resources if row.name == "issue slots"), None)
    evidence = [Evidence("cycles in which a scheduler issues", busy, "%", "measured")]
    if executed:
        evidence.append(Evidence("warp instructions", executed.value, "", executed.source))
    return case.hint(
        "instructions",
        f"The schedulers issue an instruction in {percent(busy)} of the cycles",
        "The number of instructions is the limit, not memory. Reduce it in the main loop: use wider "
        "loads, packed arithmetic (pairs of fp16), fewer conversions and simpler addresses. The Resources "
        "pane shows the instructions by purpose.",
        evidence,
        0,
        busy * time - case.next_need_ns("issue slots") if time else None,
        cost="Packed and narrower arithmetic is less exact.",
    )
