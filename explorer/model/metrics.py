"""The metrics of a compilation: their names, units, whether more or less is better, and which are goals.

Tables, comparisons and checks of compilations share this list; the page and the command line take their
titles from it. `explorer.queries.metrics` reads the values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Better = Literal["lower", "higher"]
Verdict = Literal["same", "better", "worse", "different"]


@dataclass(frozen=True, slots=True)
class Metric:
    """A number of a compilation. `unit` is its unit; "": the number is a count or a ratio.

    `short` is the title in narrow tables and in lines of text; "": `title`. `is_goal`: the best of several
    variants is the variant with the best value. Registers, for example, are no goal: more of them can make a
    kernel faster.
    """

    name: str
    title: str
    unit: str = ""
    better: Better = "lower"
    short: str = ""
    is_goal: bool = False

    def verdict(self, before: float | None, after: float | None) -> Verdict:
        """Compare two values; a missing value is only different."""
        if before == after:
            return "same"
        if before is None or after is None:
            return "different"
        return "better" if (after < before) == (self.better == "lower") else "worse"


METRICS: tuple[Metric, ...] = (
    Metric("registers", "Registers per thread", short="registers"),
    Metric("scalar_registers", "Scalar registers per wave"),
    Metric("spills", "Spills, stores and loads", "bytes", short="spills", is_goal=True),
    Metric("spill_stores_bytes", "Spill stores", "bytes"),
    Metric("spill_loads_bytes", "Spill loads", "bytes"),
    Metric("stack_bytes", "Stack per thread", "bytes"),
    Metric("shared_bytes", "Shared memory per block", "bytes", short="shared"),
    Metric("tensor_memory_columns", "Tensor memory", "columns"),
    Metric("global_scratch_bytes", "Global scratch memory", "bytes"),
    Metric("constant_bytes", "Constant memory", "bytes"),
    Metric("barriers", "Hardware barriers"),
    Metric("occupancy", "Occupancy", better="higher", short="occupancy"),
    Metric("instructions", "Instructions"),
    Metric("layout_conversions", "Layout conversions"),
    Metric("binary_bytes", "Binary", "bytes"),
    Metric("compile_milliseconds", "Compile time", "ms", short="compile", is_goal=True),
)

#: The metrics that tables show, in the order of their columns.
TABLE_METRICS: tuple[Metric, ...] = tuple(
    metric
    for name in (
        *("registers", "spills", "shared_bytes", "layout_conversions", "instructions", "occupancy"),
        "compile_milliseconds",
    )
    for metric in METRICS
    if metric.name == name
)


def find_metric(name: str) -> Metric | None:
    return next((metric for metric in METRICS if metric.name == name), None)


def metric_titles() -> dict[str, dict[str, str]]:
    """Return the titles of each metric for the page, by its name."""
    return {each.name: {"title": each.title, "short": each.short or each.title} for each in METRICS}
