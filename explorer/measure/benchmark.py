"""Calls the script's own benchmark, a function with `triton.testing.perf_report`, for one of its sizes."""

from __future__ import annotations

from typing import Any

from triton.testing import Mark

from explorer.model import Run
from explorer.pipeline.errors import user_error


def find(namespace: dict[str, Any]) -> tuple[Any, Any]:
    """Return the script's first benchmark, a function of sizes and a line, and its description.

    Raises:
        UserError: it has none.
    """
    for value in namespace.values():
        if isinstance(value, Mark):
            described = value.benchmarks
            return value.fn, described[0] if isinstance(described, list | tuple) else described
    raise user_error(
        "The script has no benchmark.",
        hint="Decorate a function with @triton.testing.perf_report(triton.testing.Benchmark(…)).",
    )


def sizes_of(description: Any, x: Any) -> dict[str, Any]:
    """Return the sizes by name at one value of the benchmark's x axis."""
    values = x if isinstance(x, list | tuple) else [x] * len(description.x_names)
    return dict(zip(description.x_names, values, strict=False))


def kernel_line(description: Any) -> Any:
    """Return the value of the line that stands for the kernel: one named "triton", or the first."""
    for value, name in zip(description.line_vals, description.line_names, strict=False):
        if "triton" in f"{value} {name}".lower():
            return value
    return description.line_vals[0]


def call(run: Run, namespace: dict[str, Any]) -> None:
    """Call the benchmark at the sizes of `run`, or the largest of its own (the interpreter: the smallest)."""
    function, description = find(namespace)
    own = [sizes_of(description, x) for x in description.x_vals]
    choose = max if run.device == "gpu" else min
    sizes = choose(own, key=lambda each: [value for value in each.values() if isinstance(value, int | float)])
    for name in run.sizes:
        if name not in sizes:
            raise user_error(
                f"The benchmark has no size {name!r}.", hint=f"Its sizes are: {', '.join(sizes)}."
            )
    line = {description.line_arg: kernel_line(description)}
    function(**{**sizes, **run.sizes}, **line, **description.args)
