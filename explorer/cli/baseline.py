"""The file of a repository with the metrics of kernels, and the comparison of later compilations with it.

The file has an entry for each script, kernel and target. Its order is stable, with one metric in each line,
so that changes of the file can be reviewed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from explorer.cli.metrics import Measure, Threshold
from explorer.errors import InvalidRequest
from explorer.model.metrics import METRICS, Verdict

_VERSION = 1
#: These metrics differ between machines and with the lines of the source. They are compared on request only.
_ON_REQUEST = ("compile_milliseconds", "binary_bytes")

#: The names of changed numbers of findings begin so.
FINDINGS = "findings."

Metrics = dict[str, int | float]
#: "same": no metric is better, or worse than allowed. "failing": the kernel fails here and in the baseline.
State = Literal["same", "better", "worse", "new", "gone", "failed", "failing"]
#: The script, the kernel and the target.
Key = tuple[str, str, str]


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A compilation in the file. `metrics` is None if it fails.

    `findings` are the numbers of findings by their rules; None: they were not asked for.
    """

    triton: str
    metrics: Metrics | None
    findings: dict[str, int] | None = None


class _File(msgspec.Struct, frozen=True):
    version: int
    scripts: dict[str, dict[str, dict[str, Entry]]]


Baseline = dict[Key, Entry]


@dataclass(frozen=True)
class Checked:
    """A compilation for the comparison.

    `path` and `line` locate the kernel; line 0: unknown. `error` says why there are no metrics. If
    the failure `is_final`, compiling again gives the same. `findings` are the sentences of the findings by
    their rules; None: they were not asked for.
    """

    key: Key
    path: str
    line: int
    triton: str
    metrics: Metrics | None
    error: str = ""
    is_final: bool = True
    page: str = ""
    findings: Mapping[str, Sequence[str]] | None = None

    @property
    def finding_counts(self) -> dict[str, int] | None:
        """The numbers of findings by their rules."""
        return None if self.findings is None else {rule: len(texts) for rule, texts in self.findings.items()}


@dataclass(frozen=True)
class Change:
    """A metric that is better, or worse than allowed. `after` is None if it is unknown.

    The number of findings of a rule has the name of the rule after `FINDINGS`.
    """

    metric: str
    before: float
    after: float | None
    verdict: Verdict


@dataclass(frozen=True)
class Row:
    """The result of comparing a compilation."""

    state: State
    checked: Checked
    changes: tuple[Change, ...] = ()
    triton_before: str = ""


def read_baseline(path: Path) -> Baseline | None:
    """Read a file; None: there is none.

    Raises:
        InvalidRequest: the file cannot be read, or is not a baseline.
    """
    try:
        file = msgspec.json.decode(path.read_bytes(), type=_File)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidRequest(f"Cannot read {path}: {error.strerror}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidRequest(f"{path} is not a baseline: {error}. Write it again with --update.") from error
    if file.version != _VERSION:
        raise InvalidRequest(
            f"{path} has version {file.version}; this triton-explorer reads version {_VERSION}. Install "
            "a matching triton-explorer, or write the file again with --update."
        )
    return {
        (script, kernel, target): entry
        for script, kernels in file.scripts.items()
        for kernel, targets in kernels.items()
        for target, entry in targets.items()
    }


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write a file.

    Raises:
        InvalidRequest: the file cannot be written.
    """
    scripts: dict[str, dict[str, dict[str, Entry]]] = {}
    for (script, kernel, target), entry in sorted(baseline.items(), key=lambda item: item[0]):
        scripts.setdefault(script, {}).setdefault(kernel, {})[target] = entry
    text = msgspec.json.format(msgspec.json.encode(_File(_VERSION, scripts)), indent=2) + b"\n"
    write_report(path, text)


def write_report(path: Path, text: bytes, *, is_added: bool = False) -> None:
    """Write a file that an option names, or add to it.

    Raises:
        InvalidRequest: the file cannot be written.
    """
    try:
        with path.open("ab" if is_added else "wb") as file:
            file.write(text)
    except OSError as error:
        raise InvalidRequest(f"Cannot write {path}: {error.strerror}.") from error


def updated(baseline: Baseline, rows: Iterable[Row]) -> Baseline:
    """Return the baseline with the new metrics. A transient failure keeps its entry."""
    entries = dict(baseline)
    for row in rows:
        checked = row.checked
        if row.state == "gone":
            del entries[checked.key]
        elif checked.metrics is not None or checked.is_final:
            entries[checked.key] = Entry(checked.triton, checked.metrics, checked.finding_counts)
    return entries


def compared_metrics(values: Mapping[str, float | None], thresholds: Collection[str]) -> Metrics:
    """Return the metrics to compare, in the order of the list of metrics."""
    names = (each.name for each in METRICS if each.name not in _ON_REQUEST or each.name in thresholds)
    return {name: value for name in names if (value := values[name]) is not None}


def compare(
    baseline: Baseline,
    checked: Iterable[Checked],
    thresholds: Mapping[str, Threshold],
    is_named: Iterable[Key] = (),
) -> Iterator[Row]:
    """Yield a row for each compilation, then one for each entry of `is_named` that was not compiled."""
    compiled = set()
    for each in checked:
        compiled.add(each.key)
        yield _compared(each, baseline.get(each.key), thresholds)
    for key in is_named:
        if key not in compiled:
            entry = baseline[key]
            error = "The baseline has this kernel, and the script does not. Remove it with --update."
            yield Row("gone", Checked(key, key[0], 0, entry.triton, None, error))


def _compared(checked: Checked, entry: Entry | None, thresholds: Mapping[str, Threshold]) -> Row:
    if checked.metrics is None:
        fails_as_before = entry is not None and entry.metrics is None and checked.is_final
        return Row("failing" if fails_as_before else "failed", checked)
    if entry is None:
        return Row("new", checked)
    if entry.metrics is None:
        return Row("better", checked, (), entry.triton)
    changes = (
        *_changes(entry.metrics, checked.metrics, thresholds),
        *_finding_changes(entry.findings, checked.finding_counts),
    )
    verdicts = {each.verdict for each in changes}
    state: State = "worse" if "worse" in verdicts else "better" if changes else "same"
    return Row(state, checked, changes, entry.triton)


def _changes(before: Metrics, after: Metrics, thresholds: Mapping[str, Threshold]) -> Iterator[Change]:
    for metric in METRICS:
        old, new = before.get(metric.name), after.get(metric.name)
        if old is None or (new is None and metric.name in _ON_REQUEST):
            continue
        if new is None:  # a metric that is no longer counted cannot be compared
            yield Change(metric.name, old, None, "worse")
            continue
        verdict = metric.verdict(old, new)
        allowed = thresholds.get(metric.name) or Measure(metric.name).default_threshold
        if verdict == "better" or (verdict == "worse" and allowed.is_exceeded(old, new, metric.better)):
            yield Change(metric.name, old, new, verdict)


def _finding_changes(before: Mapping[str, int] | None, after: Mapping[str, int] | None) -> Iterator[Change]:
    """Yield the rules with another number of findings, unless one side has none that were asked for."""
    if before is None or after is None:
        return
    for rule in sorted(before.keys() | after.keys()):
        old, new = before.get(rule, 0), after.get(rule, 0)
        if old != new:
            yield Change(FINDINGS + rule, old, new, "worse" if new > old else "better")


def status(rows: Collection[Row], *, is_exact: bool = False) -> int:
    """Return the exit status: 2 if a kernel failed, 1 if a kernel is worse or gone.

    `is_exact`: also 1 if a kernel is better or new.
    """
    states = {row.state for row in rows}
    refused = {"worse", "gone"} | ({"better", "new"} if is_exact else set())
    return 2 if "failed" in states else 1 if states & refused else 0
