"""Calls the script's own benchmark, a function with `triton.testing.perf_report`, for one of its sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import triton.testing
from triton.testing import Mark

from explorer.model import Run
from explorer.pipeline.errors import user_error
from explorer.pipeline.fake_gpu import benchmarks, replaced


def find_mark(namespace: dict[str, Any]) -> Mark | None:
    """Return the script's `perf_report` function, the first if there are several."""
    return next((value for value in namespace.values() if isinstance(value, Mark)), None)


def find(namespace: dict[str, Any]) -> tuple[Any, Any]:
    """Return the script's first benchmark, a function of sizes and a line, and its description.

    Raises:
        UserError: the script has no benchmark.
    """
    mark = find_mark(namespace)
    if mark is None:
        raise user_error(
            "The script has no benchmark.",
            hint="Decorate a function with @triton.testing.perf_report(triton.testing.Benchmark(…)).",
        )
    described = mark.benchmarks
    return mark.fn, described[0] if isinstance(described, list | tuple) else described


def own_sizes(description: Any) -> list[dict[str, Any]]:
    """Return the sizes by name of each point of the benchmark."""
    names = list(description.x_names)
    return [
        dict(zip(names, x if isinstance(x, list | tuple) else [x] * len(names), strict=True))
        for x in description.x_vals
    ]


def lines_of(description: Any, kernel: str) -> list[tuple[Any, str]]:
    """Return the values and names of the lines. Lines that are probably the kernel's come first.

    These are the line whose name is part of the kernel's ("strided" of "copy_strided_kernel"), and "triton".
    """

    def rank(line: tuple[Any, str]) -> int:
        value = str(line[0]).lower()
        if value and value in kernel.lower():
            return 0
        return 1 if "triton" in f"{value} {line[1].lower()}" else 2

    lines = zip(description.line_vals, map(str, description.line_names), strict=False)
    return sorted(lines, key=rank)


def call_until(has_launched: Callable[[], bool], run: Run, namespace: dict[str, Any], kernel: str) -> None:
    """Call the benchmark line by line until it has launched the kernel."""
    _, description = find(namespace)
    for line, _ in lines_of(description, kernel):
        call(run, namespace, line)
        if has_launched():
            return


def call(run: Run, namespace: dict[str, Any], line: Any) -> None:
    """Call the benchmark at the sizes of `run`, or at its largest sizes (in the interpreter: the smallest).

    The same random inputs are drawn for each line.
    """
    function, description = find(namespace)
    choose = max if run.device == "gpu" else min
    sizes = choose(
        own_sizes(description),
        key=lambda each: [value for value in each.values() if isinstance(value, int | float)],
    )
    for name in run.sizes:
        if name not in sizes:
            raise user_error(
                f"The benchmark has no size {name!r}.", hint=f"Its sizes are: {', '.join(sizes)}."
            )
    torch.manual_seed(run.seed)
    function(**{**sizes, **run.sizes}, **{description.line_arg: line}, **description.args)


def results_of_line(run: Run, namespace: dict[str, Any], line: Any) -> Any:
    """Call the benchmark for a line. Return the results of the functions that it would measure."""
    results: list[Any] = []

    def collect(function: Callable[[], Any], *arguments: Any, **options: Any) -> Any:
        results.append(function())
        return benchmarks.run_once(lambda: None, *arguments, **options)

    timers = {getattr(triton.testing, name, None) for name in benchmarks.TIMERS} | {benchmarks.run_once}
    imported = {
        name: value for name, value in namespace.items() if callable(value) and _is_one_of(value, timers)
    }
    namespace.update(dict.fromkeys(imported, collect))
    try:
        with replaced([(triton.testing, name, collect) for name in benchmarks.TIMERS]):
            call(run, namespace, line)
    finally:
        namespace.update(imported)
    return results[0] if results else None


def _is_one_of(value: Any, timers: set[Any]) -> bool:
    return any(value is timer for timer in timers)
