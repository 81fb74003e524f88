"""Times one launch by Proton, with a cold and with a warm L2, and by Triton's `do_bench`.

After each launch that Proton times, the GPU rests for as long as the launch took. Launched back to back, a
large matmul reduces the clocks more and more by its power: on an H200 from 1.47 to 1.69 ms within a tenth of
a second. The median would then depend on the length of the measurement. `do_bench` does not rest and shows
this effect.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

import torch
import triton

from explorer.model import Diagnostic
from explorer.model.measurements import Cache, Timing, Timings
from explorer.model.measurements.limits import MOST_TIMED
from explorer.runner import gpu
from explorer.runner.measures.context import Launch, MeasureContext
from explorer.runner.profilers import proton

WARM_UP_SECONDS = 0.025
#: The time limit of one series. A slow kernel is launched less often than requested.
SERIES_SECONDS = 5.0
LEAST_REPEATS = 5
MOST_REST_SECONDS = 0.05
#: The size of the buffer that `do_bench` writes, larger than the L2 of nearly all GPUs.
FLUSH_BYTES = 256 * 2**20


def measure(context: MeasureContext) -> None:
    launch = context.launch
    context.report_progress("Warming up")
    before = gpu.conditions("before")
    launch.restore()
    seconds = warm_up(launch.run)
    repeats = repeats_for(seconds, context.run.repeats)

    context.report_progress("Timing with Proton", 0.2)
    timings: list[Timing] = []
    try:
        timings += _timed_by_proton(context, repeats, seconds)
    except proton.ProtonFailed as failure:
        context.emit(
            Diagnostic("warning", str(failure), "time", hint="Only the times of do_bench are available.")
        )
    # Query the clocks while the GPU works. At rest it does not report the earlier clocks.
    launch.run()
    after = gpu.conditions("after")
    torch.cuda.synchronize()

    context.report_progress("Timing with do_bench", 0.8)
    launch.restore()
    timings.append(_timed_by_do_bench(launch))
    launch.restore()
    context.emit_measurement(Timings(tuple(timings)))
    context.emit_measurement(gpu.environment((before, after), launch.compiled))


def warm_up(run: Callable[[], object], seconds: float = WARM_UP_SECONDS) -> float:
    """Launch until the clocks are up. Return the approximate duration of a launch in seconds."""
    run()
    torch.cuda.synchronize()
    batch, launched, start = 1, 0, time.monotonic()
    while (passed := time.monotonic() - start) < seconds or not launched:
        for _ in range(batch):
            run()
        torch.cuda.synchronize()
        launched += batch
        batch = min(2 * batch, 256)
    return passed / launched


def repeats_for(seconds: float, asked: int) -> int:
    """Return the number of launches for a launch that takes `seconds`."""
    return max(LEAST_REPEATS, min(asked, int(SERIES_SECONDS / max(seconds, 1e-9))))


def rest(seconds: float) -> None:
    """Wait for the launches, and then for as long as they took."""
    torch.cuda.synchronize()
    time.sleep(min(seconds, MOST_REST_SECONDS))


class L2Flush:
    """A buffer larger than the L2. Writing it removes a launch's data from the L2."""

    def __init__(self) -> None:
        l2_bytes = torch.cuda.get_device_properties(torch.cuda.current_device()).L2_cache_size
        self._buffer = torch.empty(max(FLUSH_BYTES, 2 * l2_bytes), dtype=torch.uint8, device="cuda")

    def __call__(self) -> None:
        self._buffer.zero_()


def launch_cold(launch: Launch, run: Callable[[], None], repeats: int, seconds: float) -> None:
    """Call `run`, which takes `seconds`, with a cold L2, in Proton's scopes "cold 0", "cold 1", …"""
    flush = L2Flush()
    for index in range(repeats):
        launch.restore()
        flush()
        with proton.scope(f"cold {index}"):
            run()
        rest(seconds)
    launch.restore()


def _timed_by_proton(context: MeasureContext, repeats: int, seconds: float) -> list[Timing]:
    launch = context.launch

    def body() -> None:
        launch_cold(launch, launch.run, repeats, seconds)
        # The L2 contains the data just written. The first launch is not timed.
        launch.run()
        for index in range(repeats):
            with proton.scope(f"warm {index}"):
                launch.run()
            rest(seconds)

    hatchet = proton.profile(body)
    context.keep_file("proton.hatchet", "application/json", hatchet)
    times = proton.times_ns(hatchet)
    return [_timing("proton", cache, proton.samples_ns(times, cache, repeats)) for cache in ("cold", "warm")]


def _timed_by_do_bench(launch: Launch) -> Timing:
    milliseconds = triton.testing.do_bench(launch.run, return_mode="all")
    return _timing("do_bench", "cold", [1e6 * one for one in milliseconds])


def _timing(method: Literal["proton", "do_bench"], cache: Cache, samples: list[float]) -> Timing:
    # The quantiles are computed from all samples, also if not all samples are kept.
    spread = proton.spread(samples)
    step = -(-len(samples) // MOST_TIMED)
    return Timing(method, cache, spread.median, spread.low, spread.high, tuple(samples[::step]))
