"""The processor time of this process, in seconds of one machine, so that a limit means the same on each."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

#: What the yardstick takes on the machine for which the limits were chosen.
_YARDSTICK_SECONDS = 0.1
_DOCUMENT = [{"name": f"pass {index}", "lines": list(range(20))} for index in range(4000)]


@dataclass
class ProcessorTime:
    """`seconds` is known when the block is over."""

    seconds: float = 0.0


@contextmanager
def processor_time() -> Iterator[ProcessorTime]:
    """Measure a block. A processor that is slow, or shared with others, is slow for the yardstick, too."""
    taken = ProcessorTime()
    start = time.process_time()
    yield taken
    seconds = time.process_time() - start
    taken.seconds = seconds / max(1.0, _yardstick() / _YARDSTICK_SECONDS)


def _yardstick() -> float:
    start = time.process_time()
    for _ in range(2):
        text = json.dumps(_DOCUMENT)
        json.loads(text)
        sum(map(len, text.split(",")))
        assert len([number for number in range(300_000) if number % 3]) == 200_000
    return time.process_time() - start
