"""Hint: accesses to shared memory are serialized by bank conflicts."""

from __future__ import annotations

from explorer.analysis.roofline.documents import Evidence, Hint
from explorer.analysis.roofline.hints.case import Case
from explorer.analysis.roofline.numbers import percent

_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"
_WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
_WORTH = 0.05


def find(case: Case) -> Hint | None:
    """Return the hint if conflicts cause a considerable share of the wavefronts."""
    conflicts, wavefronts = case.facts.metric(_CONFLICTS), case.facts.metric(_WAVEFRONTS)
    if not conflicts or not wavefronts or not _WORTH <= conflicts / wavefronts <= 1:
        return None
    clock = case.facts.clock_mhz or case.facts.hardware.clock_mhz
    slots = case.facts.hardware.multiprocessors * clock * 1e6
    return case.hint(
        "bank_conflicts",
        f"Bank conflicts cause {percent(conflicts / wavefronts)} of the wavefronts of shared memory",
        "Lanes of a warp that access different words of the same bank are served one after another. The "
        "Layouts pane shows each access with its conflicts and the layouts that cause them.",
        [
            Evidence("wavefronts caused by conflicts", conflicts, "", "measured"),
            Evidence("all wavefronts of shared memory", wavefronts, "", "measured"),
        ],
        0,
        # A multiprocessor serves one wavefront per cycle.
        conflicts / slots * 1e9 if slots else None,
        cost="The compiler chooses the layouts. Another order of the dimensions, or another type, changes "
        "them for all accesses of the tensor.",
    )
