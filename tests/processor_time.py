"""The processor time of this process, scaled on a slow or busy machine so that limits hold there, too."""

from __future__ import annotations

import json
import time
import timeit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

#: The yardstick's time on the machine for which the limits were chosen. Faster machines are not scaled.
_YARDSTICK_SECONDS = 0.1
_DOCUMENT = [{"name": f"pass {index}", "lines": list(range(20))} for index in range(4000)]


@dataclass
class ProcessorTime:
    """`seconds` is known when the block is over."""

    seconds: float = 0.0


@contextmanager
def processor_time() -> Iterator[ProcessorTime]:
    """Measure a block. Load on the machine also slows down the yardstick before and behind the block."""
    taken = ProcessorTime()
    before = _measure_yardstick()
    start = time.process_time()
    yield taken
    seconds = time.process_time() - start
    taken.seconds = seconds / max(1.0, min(before, _measure_yardstick()) / _YARDSTICK_SECONDS)


def check_processor_seconds(limit: float, work: Callable[[], object]) -> None:
    """Assert that a calculation takes less than `limit` seconds of processor time.

    Other programs make it take longer. So the least of three times counts, as a multiple of the yardstick.
    """
    times: list[float] = []
    while len(times) < 3:
        times.append(timeit.timeit(work, number=1, timer=time.process_time))
        if times[-1] < limit:
            return
    yardstick = min(_measure_yardstick() for _ in range(3))
    assert min(times) / max(1.0, yardstick / _YARDSTICK_SECONDS) < limit, times


def _measure_yardstick() -> float:
    start = time.process_time()
    for _ in range(2):
        text = json.dumps(_DOCUMENT)
        json.loads(text)
        sum(map(len, text.split(",")))
        assert len([number for number in range(300_000) if number % 3]) == 200_000
    return time.process_time() - start
