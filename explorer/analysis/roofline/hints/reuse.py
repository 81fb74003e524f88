"""Hint: the memory level that is the limit transfers the same bytes repeatedly."""

from __future__ import annotations

from explorer.analysis.roofline.documents import Evidence, Hint
from explorer.analysis.roofline.hints.case import Case
from explorer.analysis.roofline.hints.scattered import wasted_share
from explorer.analysis.roofline.hints.spills import are_many
from explorer.analysis.roofline.hints.tried import LARGER_BLOCKS
from explorer.analysis.roofline.numbers import scaled
from explorer.analysis.roofline.work import tensor_bytes
from explorer.model.measurements import Level

_MUCH_MORE = 1.3
_LIMIT = 0.5
_SCATTERED = 0.25
#: If the L2 is busy for a smaller share of the time, larger tiles seldom make a kernel faster.
_BUSY = 0.6
#: Larger tiles than these seldom fit.
_LARGE_BYTES = 65_536
#: A grid with fewer blocks per multiprocessor has no room for larger tiles.
_MANY_BLOCKS = 4


def find(case: Case) -> Hint | None:
    """Return the hint if DRAM transfers more bytes than the tensors have, or the L2 far more than DRAM."""
    return _again_from_dram(case) or _again_from_l2(case)


def _again_from_dram(case: Case) -> Hint | None:
    moved, held = case.bytes("dram"), tensor_bytes(case.facts)
    need = case.need_ns("dram")
    time = case.facts.time_ns
    if not moved or not held or not need or not time or moved < _MUCH_MORE * held or need < _LIMIT * time:
        return None
    if are_many(case.facts.resources) or wasted_share(case) > _SCATTERED:  # bytes of other causes
        return None
    return case.hint(
        "reuse",
        f"DRAM transfers {scaled(moved, 'B')}, the tensors have {scaled(held, 'B')}",
        "The same bytes are read from DRAM several times. Change the order of the programs, so that programs "
        "with common operands run at about the same time: the L2 then serves all but the first.",
        [
            _moved(case, "dram", moved),
            Evidence("bytes of the tensors, read and written once", held, "B", "static"),
        ],
        0,
        need - max(need * held / moved, case.next_need_ns("dram")),
        cost="None in resources. The order that suits one operand can separate the programs that share "
        "another.",
    )


def _again_from_l2(case: Case) -> Hint | None:
    l2, dram, need = case.bytes("l2"), case.bytes("dram"), case.need_ns("l2")
    facts, time = case.facts, case.facts.time_ns
    if not l2 or not dram or not need or not time or l2 < 2 * dram or need < _BUSY * time:
        return None
    shared = facts.resources.shared_bytes if facts.resources else None
    if not facts.tensor_instructions or are_many(facts.resources) or shared is None or shared > _LARGE_BYTES:
        return None
    if facts.blocks < _MANY_BLOCKS * facts.hardware.multiprocessors:
        return None
    if wasted_share(case) > _SCATTERED:  # these bytes are not used, not reused
        return None
    return case.hint(
        "reuse",
        f"The L2 transfers {scaled(l2, 'B')} for {scaled(dram, 'B')} from DRAM",
        "Several programs load the same bytes. Larger tiles in the dimensions of the grid load each byte "
        "less often.",
        [
            _moved(case, "l2", l2),
            _moved(case, "dram", dram),
            Evidence("share of the time that L2 needs at least", need / time, "%", "datasheet"),
        ],
        0,
        case.most_gain_ns,
        cost="Larger tiles need more registers and shared memory, so that fewer of them fit on a "
        "multiprocessor, and leave fewer programs.",
        change=LARGER_BLOCKS,
    )


def _moved(case: Case, level: Level, value: float) -> Evidence:
    source = next(each.bytes.source for each in case.traffic if each.level == level and each.bytes)
    return Evidence(f"bytes through {level.upper()}", value, "B", source)
