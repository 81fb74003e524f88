"""Benchmarks and profiles on the fake GPU: functions are called once, without measuring."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import triton.profiler
import triton.testing

#: The duration that is reported for every call.
MILLISECONDS = 1.0

#: The functions that time a function. Not every Triton version has all of them.
TIMERS = ("do_bench", "do_bench_cudagraph", "do_bench_proton", "do_bench_cudagraph_proton")

#: The functions that start, stop and end a session of the profiler, which needs a real GPU.
SESSION_FUNCTIONS = ("start", "activate", "deactivate", "finalize")


def run_once(
    fn: Callable[[], Any],
    *_arguments: Any,
    quantiles: list[float] | None = None,
    return_mode: str = "mean",
    **_options: Any,
) -> Any:
    """Call `fn` once. Return a result in the form of `triton.testing.do_bench`."""
    fn()
    if quantiles is not None:
        return [MILLISECONDS] * len(quantiles) if len(quantiles) > 1 else MILLISECONDS
    return [MILLISECONDS] if return_mode == "all" else MILLISECONDS


def run_report(mark: Any, *_arguments: Any, **options: Any) -> None:
    """Call the function of a `perf_report` for its first size, once per line."""
    for name in ("show_plots", "print_data", "save_path", "return_df", "diff_col", "save_precision"):
        options.pop(name, None)
    benchmarks = mark.benchmarks
    for benchmark in benchmarks if isinstance(benchmarks, list | tuple) else [benchmarks]:
        for size in list(benchmark.x_vals)[:1]:
            sizes = size if isinstance(size, list | tuple) else [size] * len(benchmark.x_names)
            for line in benchmark.line_vals:
                named = dict(zip(benchmark.x_names, sizes, strict=False))
                mark.fn(**named, **{benchmark.line_arg: line}, **benchmark.args, **options)


def replacements() -> list[tuple[Any, str, Any]]:
    """List (object, attribute, replacement) for `triton.testing` and the sessions of `triton.profiler`."""
    return [
        *((triton.testing, name, run_once) for name in TIMERS if hasattr(triton.testing, name)),
        (triton.testing.Mark, "run", run_report),
        *((triton.profiler, name, lambda *_arguments, **_options: 0) for name in SESSION_FUNCTIONS),
        (triton.profiler, "profile", lambda function=None, **_options: function or (lambda inner: inner)),
    ]
