"""What can be measured. A measure is one file here, with a function `measure`, and one line in `MEASURES`.

Their order is that in which they are made, whatever the order in which they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable

from explorer.measure.bench import Bench
from explorer.measure.measures import (
    autotune,
    check,
    counters,
    counts,
    roofs,
    samples,
    sweep,
    time,
    timeline,
)
from explorer.model import Measure

MEASURES: dict[Measure, Callable[[Bench], None]] = {
    "check": check.measure,
    "counts": counts.measure,
    "time": time.measure,
    "autotune": autotune.measure,
    "sweep": sweep.measure,
    "counters": counters.measure,
    "samples": samples.measure,
    "timeline": timeline.measure,
    "roofs": roofs.measure,
}
