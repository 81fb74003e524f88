"""Accesses to shared memory that take turns, because their lanes meet at the same banks."""

from __future__ import annotations

from explorer.analysis.hints.case import Case
from explorer.analysis.roofline.documents import Evidence, Hint
from explorer.analysis.roofline.numbers import percent

_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"
_WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
_WORTH = 0.05


def find(case: Case) -> Hint | None:
    """Where a good part of all wavefronts is there because of conflicts."""
    conflicts, wavefronts = case.facts.metric(_CONFLICTS), case.facts.metric(_WAVEFRONTS)
    if not conflicts or not wavefronts or not _WORTH <= conflicts / wavefronts <= 1:
        return None
    clock = case.facts.clock_mhz or case.facts.hardware.clock_mhz
    slots = case.facts.hardware.multiprocessors * clock * 1e6
    return case.hint(
        "bank_conflicts",
        f"{percent(conflicts / wavefronts)} of the accesses to shared memory wait for a bank",
        "Lanes of a warp that use different words of the same bank are served one after another. Another "
        "block shape or "
        "element order changes the layout; the pane Layouts shows each access with its conflicts.",
        [
            Evidence("wavefronts because of conflicts", conflicts, "", "measured"),
            Evidence("all wavefronts of shared memory", wavefronts, "", "measured"),
        ],
        0,
        # A multiprocessor serves one wavefront a clock.
        conflicts / slots * 1e9 if slots else None,
    )
