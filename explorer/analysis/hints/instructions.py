"""A kernel that is limited by how many instructions can be issued."""

from __future__ import annotations

from explorer.analysis.hints.case import Case
from explorer.analysis.roofline.documents import Evidence, Hint
from explorer.analysis.roofline.numbers import percent

_BUSY = 0.6
_ISSUE = "smsp__issue_active.avg.pct_of_peak_sustained_active"


def find(case: Case) -> Hint | None:
    """Where the schedulers issue in most clocks."""
    time, need = case.facts.time_ns, case.need_ns("issue slots")
    busy = case.facts.busy(_ISSUE)
    if busy is None:
        busy = min(1.0, need / time) if need and time else None
    if busy is None or busy < _BUSY:
        return None
    executed = next((row.work for row in case.resources if row.name == "issue slots"), None)
    evidence = [Evidence("clocks in which a scheduler issues", busy, "%", "measured")]
    if executed:
        evidence.append(Evidence("instructions of warps", executed.value, "", executed.source))
    return case.hint(
        "instructions",
        f"The schedulers issue an instruction in {percent(busy)} of the clocks",
        "Instructions are the limit, not memory. Wider loads, work on two values at once (fp16 pairs), "
        "fewer conversions "
        "and simpler addresses in the innermost loop make fewer of them: the pane Resources shows what "
        "they are for.",
        evidence,
        0,
        busy * time - case.next_need_ns("issue slots") if time else None,
    )
