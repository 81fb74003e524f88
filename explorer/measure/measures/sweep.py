"""A benchmark over sizes: the script's own `perf_report` function, or the launch made anew for each size.

The script's function is called as Triton's `Mark.run` calls it, point by point, so that one that fails costs
only its point. What it returns is what it measures, in the unit of its y axis.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch
import triton
from triton.testing import Benchmark, Mark

from explorer.measure.bench import Bench, Launch
from explorer.measure.benchmark import find_mark, own_sizes
from explorer.measure.troubles import in_words, is_fatal
from explorer.measurements import Sweep, SweepPoint
from explorer.measurements.limits import MOST_PROBLEMS
from explorer.model import Diagnostic
from explorer.pipeline.fake_gpu import benchmarks

#: Median, low and high of one line at one size; None: it failed.
Value = tuple[float | None, float | None, float | None]
FAILED: Value = (None, None, None)
QUANTILES = (0.5, 0.2, 0.8)


def measure(bench: Bench) -> None:
    namespace = bench.launch.namespace
    give_real_timers(namespace)
    mark = find_mark(namespace)
    if mark is not None:
        described = mark.benchmarks if isinstance(mark.benchmarks, Sequence) else [mark.benchmarks]
        _sweep_of_script(bench, mark, described)
    elif bench.at_sizes is not None and bench.run.sweep_size:
        _sweep_of_inputs(bench, bench.run.sweep_size, bench.at_sizes)
    else:
        bench.emit(
            Diagnostic(
                "note",
                "There is nothing to sweep over.",
                "sweep",
                hint="Decorate a function of the script with triton.testing.perf_report, or make the "
                "inputs in the form and name the size to vary.",
            )
        )


def give_real_timers(namespace: dict[str, Any]) -> None:
    """Put Triton's timers in the place of those that took their place while the launch was taken."""
    for name, value in namespace.items():
        if value is benchmarks.run_once:
            namespace[name] = getattr(triton.testing, name, triton.testing.do_bench)


def _sweep_of_script(bench: Bench, mark: Mark, described: Sequence[Benchmark]) -> None:
    chosen = described[0]
    lines = tuple(str(name) for name in chosen.line_names)
    problems: list[str] = []
    if len(described) > 1:
        problems.append(f"The first of {len(described)} benchmarks of the function is shown.")
    places = sizes_of(chosen, bench.run.sweep_size, bench.run.sweep_values)

    def points() -> Iterator[SweepPoint]:
        for place, sizes in enumerate(places):
            values = []
            for line, (line_value, name) in enumerate(zip(chosen.line_vals, lines, strict=True)):
                what = f"{_told(sizes)}, {name}"
                bench.progress(what, (place + line / len(lines)) / len(places))
                arguments = {**sizes, chosen.line_arg: line_value, **chosen.args}
                values.append(_value(partial(mark.fn, **arguments), what, problems))
            yield _point(sizes, values)

    name = chosen.plot_name or "benchmark"
    sweep = Sweep(name, tuple(chosen.x_names), lines, chosen.ylabel, chosen.x_log, points=())
    _tell(bench, sweep, points(), problems)


def _tell(bench: Bench, sweep: Sweep, points: Iterator[SweepPoint], problems: list[str]) -> None:
    """Tell of `sweep` with all its points: of those up to where the GPU goes wrong, if it does."""
    found: list[SweepPoint] = []
    try:
        for point in points:
            found.append(point)  # noqa: PERF402  those before one that fails are kept
    except Exception as problem:
        if not is_fatal(problem):
            raise
        problems.append("With this, the run has lost the GPU: nothing more was measured.")
        raise
    finally:
        bench.tell(dataclasses.replace(sweep, points=tuple(found), problems=_shown(problems)))


def _shown(problems: list[str]) -> tuple[str, ...]:
    """As many as a page can show: the first ones, and how many there are beside."""
    if len(problems) <= MOST_PROBLEMS:
        return tuple(problems)
    shown = problems[: MOST_PROBLEMS - 1]
    return (*shown, f"{len(problems) - len(shown):,} more like these.")


def sizes_of(benchmark: Benchmark, name: str, values: Sequence[int]) -> list[dict[str, Any]]:
    """The arguments of each point of a benchmark: its own, or `values` for `name` (left out: for all sizes).

    Sizes that are not varied are then those of its last point.
    """
    names = list(benchmark.x_names)
    own = own_sizes(benchmark)
    if not values:
        return own
    varied = [name] if name in names else names
    return [{**(own[-1] if own else {}), **dict.fromkeys(varied, value)} for value in values]


def _sweep_of_inputs(bench: Bench, name: str, at_sizes: Callable[[dict[str, int]], Launch]) -> None:
    problems: list[str] = []
    values = bench.run.sweep_values or (bench.run.sizes[name],)
    has_reference = bench.launch.reference is not None
    unit = unit_of(bench.launch.facts.stated)

    def points() -> Iterator[SweepPoint]:
        for place, value in enumerate(values):
            bench.progress(_told({name: value}), place / len(values))
            sizes = {**bench.run.sizes, name: value}
            yield _point({name: value}, _values_at(sizes, name, unit, at_sizes, has_reference, problems))

    lines = ("kernel", "reference") if has_reference else ("kernel",)
    is_logarithmic = len(values) > 2 and max(values) >= 32 * max(min(values), 1)
    sweep = Sweep(bench.launch.facts.kernel, (name,), lines, unit, is_logarithmic, points=())
    _tell(bench, sweep, points(), problems)


def _values_at(
    sizes: dict[str, int],
    name: str,
    unit: str,
    at_sizes: Callable[[dict[str, int]], Launch],
    has_reference: bool,
    problems: list[str],
) -> list[Value]:
    """Measure the kernel, and the reference if there is one, at one size; its tensors are gone afterwards."""
    told = _told({name: sizes[name]})
    try:
        launch = at_sizes(sizes)
    except Exception as problem:
        problems.append(_problem(told, problem))
        if is_fatal(problem):
            raise
        torch.cuda.empty_cache()  # it may have run out of memory
        return [FAILED] * (1 + has_reference)
    work = work_of(launch.facts.stated, unit)
    values = [_value(partial(_timed, launch.run, work), f"{told}, kernel", problems)]
    if has_reference:
        reference = launch.reference
        assert reference is not None
        values.append(_value(partial(_timed, reference, work), f"{told}, reference", problems))
    return values


def unit_of(stated: Mapping[str, float]) -> str:
    """What to plot: a rate, where the kernel's `launch_metadata` says how much work a launch is."""
    if _flops(stated) > 0:
        return "TFLOP/s"
    return "GB/s" if stated.get("bytes", 0) > 0 else "µs"


def work_of(stated: Mapping[str, float], unit: str) -> float | None:
    """The work of a launch in what `unit` counts a second; None: its time is told."""
    if unit == "TFLOP/s":
        return _flops(stated) / 1e12
    return stated.get("bytes", 0.0) / 1e9 if unit == "GB/s" else None


def _flops(stated: Mapping[str, float]) -> float:
    return sum(value for name, value in stated.items() if name.startswith("flops"))


def _timed(run: Callable[[], object], work: float | None) -> list[float]:
    """Median and quantiles: of microseconds, or of `work` a second."""
    milliseconds = triton.testing.do_bench(run, quantiles=QUANTILES)
    return [1000 * one if work is None else 1000 * work / one for one in milliseconds]


def _value(call: Callable[[], Any], what: str, problems: list[str]) -> Value:
    """Measure one line at one size. What the GPU itself cannot go on after is raised."""
    try:
        result = call()
        if torch.cuda.is_initialized():
            torch.cuda.synchronize()
        return _numbers(result)
    except Exception as problem:
        problems.append(_problem(what, problem))
        if is_fatal(problem):
            raise
        torch.cuda.empty_cache()  # it may have run out of memory
        return FAILED


def _numbers(result: Any) -> Value:
    """What a benchmark function returns: a number, or the median with the lowest and the highest."""
    numbers = [float(one) for one in (result if isinstance(result, (list, tuple)) else [result])]
    if not all(map(math.isfinite, numbers)):
        raise ValueError(f"the benchmark returns {result}")
    if len(numbers) == 1:
        return numbers[0], None, None
    median, *ends = numbers
    return median, min(ends), max(ends)


def _point(sizes: dict[str, Any], values: list[Value]) -> SweepPoint:
    median, low, high = zip(*values, strict=True)
    return SweepPoint({name: float(size) for name, size in sizes.items()}, median, low, high)


def _told(sizes: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value:,}" for name, value in sizes.items())


def _problem(what: str, problem: Exception) -> str:
    return f"{what}: {' '.join(in_words(problem).split())}"[:500]
