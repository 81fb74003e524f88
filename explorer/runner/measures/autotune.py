"""Times all configurations of an autotuned kernel on one launch, and finds the fastest."""

from __future__ import annotations

import torch

from explorer.model import Config, Diagnostic
from explorer.model.measurements import Autotuning, ConfigTiming
from explorer.runner.error_hints import is_fatal, summarize_error
from explorer.runner.measures.context import MeasureContext
from explorer.runner.measures.time import launch_cold, repeats_for, warm_up
from explorer.runner.profilers import proton

MOST_REPEATS = 20


def measure(context: MeasureContext) -> None:
    """Time the configurations in order. A failed configuration has a problem in place of a time."""
    configs = context.launch.configs
    if not configs:
        context.emit(Diagnostic("note", "The kernel has no autotune configurations.", "autotune"))
        return
    timings: list[ConfigTiming] = []
    for position, config in enumerate(configs):
        context.report_progress(f"Configuration {position + 1} of {len(configs)}", position / len(configs))
        try:
            timings.append(_timed(context, config))
        except Exception as problem:  # Other configurations may work.
            timings.append(_not_timed(config, summarize_error(problem)))
            if is_fatal(problem):
                left = f"Not timed: the GPU became unusable with configuration {config.index}."
                timings += [_not_timed(other, left) for other in configs[position + 1 :]]
                _tell(context, timings)
                raise
            torch.cuda.empty_cache()  # The configuration may have run out of memory.
    _tell(context, timings)


def _tell(context: MeasureContext, timings: list[ConfigTiming]) -> None:
    timed = [timing for timing in timings if timing.median_ns is not None]
    best = min(timed, key=lambda timing: timing.median_ns or 0.0).config if timed else None
    context.emit_measurement(Autotuning(tuple(timings), best))


def _timed(context: MeasureContext, config: Config) -> ConfigTiming:
    launch = context.launch

    def run() -> None:
        launch.run(config.index)

    launch.restore()
    seconds = warm_up(run)
    repeats = repeats_for(seconds, min(context.run.repeats, MOST_REPEATS))

    times = proton.times_ns(proton.profile(lambda: launch_cold(launch, run, repeats, seconds)))
    spread = proton.spread(proton.samples_ns(times, "cold", repeats))
    return ConfigTiming(
        config.index, config.arguments, config.options, spread.median, spread.low, spread.high
    )


def _not_timed(config: Config, problem: str) -> ConfigTiming:
    return ConfigTiming(config.index, config.arguments, config.options, None, None, None, problem)
