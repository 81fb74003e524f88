"""All configurations of an autotuned kernel on the one launch, timed alike, and which is the fastest."""

from __future__ import annotations

import torch

from explorer.measure import proton
from explorer.measure.bench import Bench
from explorer.measure.measures.time import launch_cold, repeats_for, warm_up
from explorer.measure.troubles import in_words, is_fatal
from explorer.measurements import Autotuning, ConfigTiming
from explorer.model import Config, Diagnostic

MOST_REPEATS = 20


def measure(bench: Bench) -> None:
    """Time one after the other. One that cannot be compiled, launched or profiled is data."""
    configs = bench.launch.configs
    if not configs:
        bench.emit(Diagnostic("note", "The kernel has no autotune configurations.", "autotune"))
        return
    timings: list[ConfigTiming] = []
    for position, config in enumerate(configs):
        bench.progress(f"Configuration {position + 1} of {len(configs)}", position / len(configs))
        try:
            timings.append(_timed(bench, config))
        except Exception as problem:
            timings.append(_not_timed(config, in_words(problem)))
            if is_fatal(problem):
                left = f"Not timed: the run has lost the GPU with configuration {config.index}."
                timings += [_not_timed(other, left) for other in configs[position + 1 :]]
                _tell(bench, timings)
                raise
            torch.cuda.empty_cache()  # it may have run out of memory
    _tell(bench, timings)


def _tell(bench: Bench, timings: list[ConfigTiming]) -> None:
    timed = [timing for timing in timings if timing.median_ns is not None]
    best = min(timed, key=lambda timing: timing.median_ns or 0.0).config if timed else None
    bench.tell(Autotuning(tuple(timings), best))


def _timed(bench: Bench, config: Config) -> ConfigTiming:
    launch = bench.launch

    def run() -> None:
        launch.run(config.index)

    launch.restore()
    seconds = warm_up(run)
    repeats = repeats_for(seconds, min(bench.run.repeats, MOST_REPEATS))

    times = proton.times_ns(proton.profile(lambda: launch_cold(launch, run, repeats, seconds)))
    spread = proton.spread(proton.samples_ns(times, "cold", repeats))
    return ConfigTiming(
        config.index, config.arguments, config.options, spread.median, spread.low, spread.high
    )


def _not_timed(config: Config, problem: str) -> ConfigTiming:
    return ConfigTiming(config.index, config.arguments, config.options, None, None, None, problem)
