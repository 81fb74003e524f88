"""A run as a few lines of text, for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

import msgspec

from explorer.analysis.roofline.documents import RooflineDocument
from explorer.analysis.roofline.numbers import duration, scaled
from explorer.model.measurements import (
    Autotuning,
    Check,
    Counters,
    Counts,
    LaunchFacts,
    OutputCheck,
    RunArgument,
    Samples,
    Sweep,
    Timings,
)
from explorer.runs.documents import binary_match, environment_of, run_of
from explorer.store import Record

_MOST_ROWS = 12
_MOST_CHARACTERS = 100
#: The measurements with separate lines, and the measurements that are not for a terminal.
_KNOWN = {
    "launch", "check", "timings", "counters", "counts", "samples", "autotuning", "sweep",
    "environment", "files", "roofs", "timeline",
}  # fmt: skip
#: Whole numbers of a user's code may have any length.
_MOST_BYTES = 1e24


def summary_of(record: Record, compilation: Record | None, roofline: RooflineDocument) -> str:
    """Return the launch, the result of the check and the measurements of a run as text."""
    return "".join(f"{title:<10} {text}\n" for title, text in _lines(record, compilation, roofline))


def _lines(
    record: Record, compilation: Record | None, roofline: RooflineDocument
) -> Iterator[tuple[str, str]]:
    yield record.kernel or (compilation.kernel if compilation else None) or "kernel", _place(record)
    if compilation and binary_match(record, compilation) == "other":
        yield "", "The binary that ran differs from the binary that was compiled here."
    if launch := record.measured("launch", LaunchFacts):
        yield "launch", f"line {launch.line}, grid {' × '.join(map(str, launch.grid))}"
        yield from (("", _argument(argument)) for argument in launch.arguments)
    if check := record.measured("check", Check):
        yield from _titled("check", map(_output, check.outputs) if not check.reason else [check.reason])
    if timings := record.measured("timings", Timings):
        times = [
            f"{duration(each.median_ns)} ({duration(each.low_ns)} to {duration(each.high_ns)}), "
            f"{each.cache} L2, {each.method}"
            for each in timings.timings
        ]
        yield from _titled("time", times)
    if counters := record.measured("counters", Counters):
        yield from _titled("counters", _counters(counters) if not counters.reason else [counters.reason])
    if counts := record.measured("counts", Counts):
        yield from _titled("counts", _counts(counts))
    if samples := record.measured("samples", Samples):
        total = sum(each.samples for each in samples.instructions)
        yield "samples", samples.reason or f"{total:,} in {len(samples.instructions)} instructions"
    if launch:
        yield from _titled("roofline", _roofline(roofline))
    if tuning := record.measured("autotuning", Autotuning):
        yield from _titled("autotune", _configs(tuning))
    if sweep := record.measured("sweep", Sweep):
        yield from _titled("sweep", _sweep(sweep))
    for name in record.result.measurements:
        if name not in _KNOWN:
            yield from _titled(name, _fields(record.measurement(name)))


def _place(record: Record) -> str:
    environment, device = environment_of(record), run_of(record).device
    if environment is None or not environment.gpu:
        return f"{device}, Triton {record.request.triton}"
    return f"{environment.gpu}, driver {environment.driver}, Triton {environment.triton}"


def _titled(title: str, texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Several lines, the first of which has a title."""
    for number, text in enumerate(texts):
        yield ("" if number else title), text


def _argument(argument: RunArgument) -> str:
    shape = "" if argument.shape is None else f"[{', '.join(map(str, argument.shape))}]"
    value = "" if argument.value is None else f" = {argument.value}"
    return f"{argument.name}: {argument.type}{shape}{value}"


def _output(output: OutputCheck) -> str:
    verdict = "matches" if output.matches else "DIFFERS"
    text = (
        f"{output.name} {verdict}: relative error {output.relative_error:.2g}, allowed {output.tolerance:.2g}"
    )
    if not output.matches:
        index = ", ".join(map(str, output.worst_index))
        value, reference = _element(output.worst_value), _element(output.worst_reference)
        text += f"; worst at [{index}]: {value}, should be {reference}"
    return text + (f"; {output.not_finite:,} not finite" if output.not_finite else "")


def _element(value: float | None) -> str:
    return "NaN or infinite" if value is None else f"{value:g}"


def _counters(counters: Counters) -> Iterator[str]:
    yield f"{counters.tool}, {counters.cache} caches"
    yield from (f"{level}: {_bytes(value)}" for level, value in counters.bytes.items())
    yield from (f"{name}: {value:,.0f} operations" for name, value in counters.operations.items())


def _counts(counts: Counts) -> Iterator[str]:
    yield f"{counts.programs:,} of {counts.grid_programs:,} programs"
    yield f"loaded {_bytes(counts.loaded_bytes)} in {counts.loaded_sectors:,} sectors"
    yield f"stored {_bytes(counts.stored_bytes)} in {counts.stored_sectors:,} sectors"
    yield from (f"{name}: {value:,} operations" for name, value in counts.flops.items())
    if 0 < counts.programs < counts.grid_programs:
        loaded, stored = (
            _bytes(value * counts.grid_programs // counts.programs)
            for value in (counts.loaded_bytes, counts.stored_bytes)
        )
        yield f"extrapolated to all programs: loaded {loaded}, stored {stored}"


def _roofline(document: RooflineDocument) -> Iterator[str]:
    yield document.reason or document.verdict
    for hint in document.hints:
        place = f" (line {hint.source_line})" if hint.source_line else ""
        yield f"- {hint.title}{place}: {hint.text} Cost: {hint.cost}"


def _configs(tuning: Autotuning) -> Iterator[str]:
    timed = sorted(
        (config for config in tuning.configs if config.median_ns is not None),
        key=lambda config: config.median_ns or 0.0,
    )
    for config in timed[:_MOST_ROWS]:
        settings = ", ".join(
            f"{name}={value}" for name, value in {**config.arguments, **config.options}.items()
        )
        yield f"{duration(config.median_ns or 0.0)}  config {config.config}: {settings}"
    if len(timed) < len(tuning.configs):
        yield f"{len(tuning.configs) - len(timed)} of {len(tuning.configs)} have failed"


def _sweep(sweep: Sweep) -> Iterator[str]:
    yield f"{', '.join(sweep.size_names)}: {', '.join(sweep.lines)} ({sweep.unit})"
    for point in sweep.points[-_MOST_ROWS:]:
        sizes = ", ".join(f"{size:,.0f}" for size in point.sizes.values())
        values = ("failed" if value is None else f"{value:,.4g}" for value in point.values)
        yield f"{sizes}: {', '.join(values)}"


def _fields(document: bytes) -> Iterator[str]:
    """Describe a document of any type by its fields."""
    for name, value in msgspec.json.decode(document).items():
        yield textwrap.shorten(f"{name}: {msgspec.json.encode(value).decode()}", _MOST_CHARACTERS)


def _bytes(value: float) -> str:
    return scaled(value, "B") if value <= _MOST_BYTES else "more bytes than there can be"
