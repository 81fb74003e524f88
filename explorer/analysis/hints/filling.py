"""A grid that does not fill the GPU, or fills its last wave badly."""

from __future__ import annotations

from explorer.analysis.hints.case import Case
from explorer.analysis.roofline.documents import Evidence, Hint

_WORTH = 0.05
#: What a model alone says must be more.
_WORTH_WITHOUT_TIME = 0.2


def find(case: Case) -> Hint | None:
    """Where the shape of the grid leaves places empty."""
    loss = next((each for each in case.losses if each.name in ("tail", "idle multiprocessors")), None)
    waves = case.facts.waves
    least = _WORTH if case.facts.time_ns else _WORTH_WITHOUT_TIME
    if loss is None or waves is None or (loss.share or 0.0) < least:
        return None
    room = case.room_ns
    count = case.facts.hardware.multiprocessors
    if waves.blocks < count:
        title = f"{waves.blocks:,} blocks leave {count - waves.blocks:,} of {count:,} multiprocessors idle"
        advice = "Smaller blocks, or a split of the reduced dimension, make more programs."
    else:
        title = (
            f"The last of {waves.waves:,} waves is not full"
            if waves.waves > 1
            else "The blocks do not divide evenly"
        )
        advice = "Another block size can make the waves full; a persistent kernel spreads the tiles evenly."
    return case.hint(
        "filling",
        title,
        f"{loss.text} {advice}",
        [
            Evidence("blocks", float(waves.blocks), "", "static"),
            Evidence("blocks that run at once", float(waves.at_once), "", "static"),
            Evidence("places that stay empty", loss.share or 0.0, "%", "static"),
        ],
        0,
        loss.lost_ns if room is None or loss.lost_ns is None else min(loss.lost_ns, room),
    )
