"""All configurations of an autotuned kernel on the one launch, timed alike, and which is the fastest."""

from __future__ import annotations

from triton.compiler.errors import CompilationError
from triton.runtime.errors import OutOfResources, PTXASError

from explorer.measure import proton
from explorer.measure.bench import Bench
from explorer.measure.measures.time import L2Flush, repeats_for, rest, warm_up
from explorer.measurements import Autotuning, ConfigTiming
from explorer.model import Config, Diagnostic
from explorer.pipeline.errors import UserError

MOST_REPEATS = 20


def measure(bench: Bench) -> None:
    configs = bench.launch.configs
    if not configs:
        bench.emit(Diagnostic("note", "The kernel has no autotune configurations.", "autotune"))
        return
    timings = []
    for position, config in enumerate(configs):
        bench.progress(f"Configuration {position + 1} of {len(configs)}", position / len(configs))
        timings.append(_timed(bench, config))
    timed = [timing for timing in timings if timing.median_ns is not None]
    best = min(timed, key=lambda timing: timing.median_ns or 0.0).config if timed else None
    bench.tell(Autotuning(tuple(timings), best))


def _timed(bench: Bench, config: Config) -> ConfigTiming:
    """Time one configuration. One that cannot be compiled or launched is data."""
    launch = bench.launch

    def run() -> None:
        launch.run(config.index)

    launch.restore()
    try:
        seconds = warm_up(run)
    except (CompilationError, OutOfResources, PTXASError, UserError, ValueError, KeyError) as problem:
        return ConfigTiming(config.index, config.arguments, config.options, None, None, None, _first(problem))
    repeats = repeats_for(seconds, min(bench.run.repeats, MOST_REPEATS))

    def body() -> None:
        flush = L2Flush()
        for index in range(repeats):
            launch.restore()
            flush()
            with proton.scope(f"cold {index}"):
                run()
            rest(seconds)

    times = proton.times_ns(proton.profile(body))
    spread = proton.spread(proton.samples_ns(times, "cold", repeats))
    launch.restore()
    return ConfigTiming(
        config.index, config.arguments, config.options, spread.median, spread.low, spread.high
    )


def _first(problem: Exception) -> str:
    """What went wrong in a few lines: compilers say a lot."""
    return "\n".join(str(problem).strip().splitlines()[:6])[:1000] or type(problem).__name__
