"""Runs a benchmark over sizes: the script's `perf_report` function, or the launch repeated for each size.

The script's function is called as Triton's `Mark.run` calls it, point by point, so that an error affects only
its point. Its results are in the unit of its y axis.
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

from explorer.model import Diagnostic
from explorer.model.measurements import Sweep, SweepPoint
from explorer.model.measurements.limits import MOST_PROBLEMS
from explorer.pipeline.fake_gpu import benchmarks
from explorer.runner.error_hints import is_fatal, summarize_error
from explorer.runner.launch.benchmark import find_mark, own_sizes
from explorer.runner.measures.context import Launch, MeasureContext

#: Median, low and high of one line at one size. None: an error occurred.
Value = tuple[float | None, float | None, float | None]
FAILED: Value = (None, None, None)
QUANTILES = (0.5, 0.2, 0.8)


def measure(context: MeasureContext) -> None:
    namespace = context.launch.namespace
    give_real_timers(namespace)
    mark = find_mark(namespace)
    if mark is not None:
        described = mark.benchmarks if isinstance(mark.benchmarks, Sequence) else [mark.benchmarks]
        _sweep_of_script(context, mark, described)
    elif context.at_sizes is not None and context.run.sweep_size:
        _sweep_of_inputs(context, context.run.sweep_size, context.at_sizes)
    else:
        context.emit(
            Diagnostic(
                "note",
                "The sweep has no sizes.",
                "sweep",
                hint="Decorate a function of the script with triton.testing.perf_report, or enter the "
                "inputs in the form and select the size to vary.",
            )
        )


def give_real_timers(namespace: dict[str, Any]) -> None:
    """Restore Triton's timers in a script, which were replaced while the launch was captured."""
    for name, value in namespace.items():
        if value is benchmarks.run_once:
            namespace[name] = getattr(triton.testing, name, triton.testing.do_bench)


def _sweep_of_script(context: MeasureContext, mark: Mark, described: Sequence[Benchmark]) -> None:
    chosen = described[0]
    lines = tuple(str(name) for name in chosen.line_names)
    problems: list[str] = []
    if len(described) > 1:
        problems.append(f"The function has {len(described)} benchmarks. The first one is run.")
    places = sizes_of(chosen, context.run.sweep_size, context.run.sweep_values)

    def points() -> Iterator[SweepPoint]:
        for place, sizes in enumerate(places):
            values = []
            for line, (line_value, name) in enumerate(zip(chosen.line_vals, lines, strict=True)):
                what = f"{_point_name(sizes)}, {name}"
                context.report_progress(what, (place + line / len(lines)) / len(places))
                arguments = {**sizes, chosen.line_arg: line_value, **chosen.args}
                values.append(_value(partial(mark.fn, **arguments), what, problems))
            yield _point(sizes, values)

    name = chosen.plot_name or "benchmark"
    sweep = Sweep(name, tuple(chosen.x_names), lines, chosen.ylabel, chosen.x_log, points=())
    _emit_sweep(context, sweep, points(), problems)


def _emit_sweep(
    context: MeasureContext, sweep: Sweep, points: Iterator[SweepPoint], problems: list[str]
) -> None:
    """Emit `sweep` with its points, up to the point at which the GPU becomes unusable, if it does."""
    found: list[SweepPoint] = []
    try:
        for point in points:
            found.append(point)  # noqa: PERF402  points before a failure are kept
    except Exception as problem:  # raised again: the points so far are kept
        if not is_fatal(problem):
            raise
        problems.append("The GPU became unusable at this point, so the sweep was stopped.")
        raise
    finally:
        context.emit_measurement(dataclasses.replace(sweep, points=tuple(found), problems=_shown(problems)))


def _shown(problems: list[str]) -> tuple[str, ...]:
    """Return the first problems, and the number of further problems."""
    if len(problems) <= MOST_PROBLEMS:
        return tuple(problems)
    shown = problems[: MOST_PROBLEMS - 1]
    return (*shown, f"{len(problems) - len(shown):,} more problems.")


def sizes_of(benchmark: Benchmark, name: str, values: Sequence[int]) -> list[dict[str, Any]]:
    """Return the arguments of each point of a benchmark: its own, or `values` for `name` ("": for all sizes).

    Sizes that are not varied have the values of its last point.
    """
    names = list(benchmark.x_names)
    own = own_sizes(benchmark)
    if not values:
        return own
    varied = [name] if name in names else names
    return [{**(own[-1] if own else {}), **dict.fromkeys(varied, value)} for value in values]


def _sweep_of_inputs(
    context: MeasureContext, name: str, at_sizes: Callable[[dict[str, int]], Launch]
) -> None:
    problems: list[str] = []
    values = context.run.sweep_values or (context.run.sizes[name],)
    has_reference = context.launch.reference is not None
    unit = unit_of(context.launch.facts.stated)

    def points() -> Iterator[SweepPoint]:
        for place, value in enumerate(values):
            context.report_progress(_point_name({name: value}), place / len(values))
            sizes = {**context.run.sizes, name: value}
            yield _point({name: value}, _values_at(sizes, name, unit, at_sizes, has_reference, problems))

    lines = ("kernel", "reference") if has_reference else ("kernel",)
    is_logarithmic = len(values) > 2 and max(values) >= 32 * max(min(values), 1)
    sweep = Sweep(context.launch.facts.kernel, (name,), lines, unit, is_logarithmic, points=())
    _emit_sweep(context, sweep, points(), problems)


def _values_at(
    sizes: dict[str, int],
    name: str,
    unit: str,
    at_sizes: Callable[[dict[str, int]], Launch],
    has_reference: bool,
    problems: list[str],
) -> list[Value]:
    """Measure the kernel, and its reference if there is one, at one size. Free its tensors afterwards."""
    point_name = _point_name({name: sizes[name]})
    try:
        launch = at_sizes(sizes)
    except Exception as problem:  # Other sizes may work.
        problems.append(_problem(point_name, problem))
        if is_fatal(problem):
            raise
        torch.cuda.empty_cache()  # The point may have run out of memory.
        return [FAILED] * (1 + has_reference)
    work = work_of(launch.facts.stated, unit)
    values = [_value(partial(_timed, launch.run, work), f"{point_name}, kernel", problems)]
    if has_reference:
        reference = launch.reference
        assert reference is not None
        values.append(_value(partial(_timed, reference, work), f"{point_name}, reference", problems))
    return values


def unit_of(stated: Mapping[str, float]) -> str:
    """Return the unit to plot: a rate if the kernel's `launch_metadata` has the work of a launch."""
    if _flops(stated) > 0:
        return "TFLOP/s"
    return "GB/s" if stated.get("bytes", 0) > 0 else "µs"


def work_of(stated: Mapping[str, float], unit: str) -> float | None:
    """Return the work of a launch in the unit of `unit` per second. None: plot its time."""
    if unit == "TFLOP/s":
        return _flops(stated) / 1e12
    return stated.get("bytes", 0.0) / 1e9 if unit == "GB/s" else None


def _flops(stated: Mapping[str, float]) -> float:
    return sum(value for name, value in stated.items() if name.startswith("flops"))


def _timed(run: Callable[[], object], work: float | None) -> list[float]:
    """Return median and quantiles, in microseconds or in `work` per second."""
    milliseconds = triton.testing.do_bench(run, quantiles=QUANTILES)
    return [1000 * one if work is None else 1000 * work / one for one in milliseconds]


def _value(call: Callable[[], Any], what: str, problems: list[str]) -> Value:
    """Measure one line at one size. Raise errors that make the GPU unusable."""
    try:
        result = call()
        if torch.cuda.is_initialized():
            torch.cuda.synchronize()
        return _numbers(result)
    except Exception as problem:  # User code may raise any exception.
        problems.append(_problem(what, problem))
        if is_fatal(problem):
            raise
        torch.cuda.empty_cache()  # The point may have run out of memory.
        return FAILED


def _numbers(result: Any) -> Value:
    """Convert the result of a benchmark function: a number, or median, minimum and maximum."""
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


def _point_name(sizes: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value:,}" for name, value in sizes.items())


def _problem(what: str, problem: Exception) -> str:
    return f"{what}: {' '.join(summarize_error(problem).split())}"[:500]
