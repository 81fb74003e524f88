"""How long one launch takes, by Proton, with a cold and with a warm L2; Triton's `do_bench` beside it.

After each launch that Proton times, the GPU rests for as long as it takes. Launched back to back, a large
matmul brings the clocks down by its power, more and more: on an H200 from 1.47 to 1.69 ms within a tenth of a
second, so that the median would tell how long was measured. `do_bench`, which does not rest, shows that.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

import torch
import triton

from explorer.measure import gpu, proton
from explorer.measure.bench import Bench, Launch
from explorer.measurements import Cache, Timing, Timings
from explorer.measurements.limits import MOST_TIMED
from explorer.model import Diagnostic

WARM_UP_SECONDS = 0.025
#: Of one series: a kernel that takes long is launched less often than asked for.
SERIES_SECONDS = 5.0
LEAST_REPEATS = 5
MOST_REST_SECONDS = 0.05
#: As large as what `do_bench` writes, which is larger than the L2 of all GPUs so far but a few.
FLUSH_BYTES = 256 * 2**20


def measure(bench: Bench) -> None:
    launch = bench.launch
    bench.progress("Warming up")
    before = gpu.conditions("before")
    launch.restore()
    seconds = warm_up(launch.run)
    repeats = repeats_for(seconds, bench.run.repeats)

    bench.progress("Timing with Proton", 0.2)
    timings: list[Timing] = []
    try:
        timings += _timed_by_proton(bench, repeats, seconds)
    except proton.ProtonFailed as failure:
        bench.emit(Diagnostic("warning", str(failure), "time", hint="Times are those of do_bench only."))
    # While it works: once the GPU rests, it says nothing of the clocks before.
    launch.run()
    after = gpu.conditions("after")
    torch.cuda.synchronize()

    bench.progress("Timing with do_bench", 0.8)
    launch.restore()
    timings.append(_timed_by_do_bench(launch))
    launch.restore()
    bench.tell(Timings(tuple(timings)))
    bench.tell(gpu.environment((before, after), launch.compiled))


def warm_up(run: Callable[[], object], seconds: float = WARM_UP_SECONDS) -> float:
    """Launch until the clocks are up; return about how many seconds a launch takes."""
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
    """How often to launch what takes `seconds`."""
    return max(LEAST_REPEATS, min(asked, int(SERIES_SECONDS / max(seconds, 1e-9))))


def rest(seconds: float) -> None:
    """Wait for what is launched, and then for as long as it took."""
    torch.cuda.synchronize()
    time.sleep(min(seconds, MOST_REST_SECONDS))


class L2Flush:
    """A buffer larger than the L2, written so that nothing of a launch's data stays there."""

    def __init__(self) -> None:
        l2_bytes = torch.cuda.get_device_properties(torch.cuda.current_device()).L2_cache_size
        self._buffer = torch.empty(max(FLUSH_BYTES, 2 * l2_bytes), dtype=torch.uint8, device="cuda")

    def __call__(self) -> None:
        self._buffer.zero_()


def launch_cold(launch: Launch, run: Callable[[], None], repeats: int, seconds: float) -> None:
    """Call `run`, which takes `seconds`, in Proton's scopes "cold 0", "cold 1", …: nothing is in the L2."""
    flush = L2Flush()
    for index in range(repeats):
        launch.restore()
        flush()
        with proton.scope(f"cold {index}"):
            run()
        rest(seconds)
    launch.restore()


def _timed_by_proton(bench: Bench, repeats: int, seconds: float) -> list[Timing]:
    launch = bench.launch

    def body() -> None:
        launch_cold(launch, launch.run, repeats, seconds)
        # What was just written is in the L2 as well as what is read: this first launch is not timed.
        launch.run()
        for index in range(repeats):
            with proton.scope(f"warm {index}"):
                launch.run()
            rest(seconds)

    hatchet = proton.profile(body)
    bench.keep("proton.hatchet", "application/json", hatchet)
    times = proton.times_ns(hatchet)
    return [_timing("proton", cache, proton.samples_ns(times, cache, repeats)) for cache in ("cold", "warm")]


def _timed_by_do_bench(launch: Launch) -> Timing:
    milliseconds = triton.testing.do_bench(launch.run, return_mode="all")
    return _timing("do_bench", "cold", [1e6 * one for one in milliseconds])


def _timing(method: Literal["proton", "do_bench"], cache: Cache, samples: list[float]) -> Timing:
    # The quantiles are those of all samples, also where not all are kept.
    spread = proton.spread(samples)
    step = -(-len(samples) // MOST_TIMED)
    return Timing(method, cache, spread.median, spread.low, spread.high, tuple(samples[::step]))
