"""`replay`: compile kernels with two Triton versions, and rank them by what changes."""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from explorer.cli.api import Api, ask, connected
from explorer.cli.kernels import (
    DEFAULT_TARGETS,
    Compiled,
    KernelCompiler,
    Script,
    add_kernels,
    failure_of,
    read_scripts,
    read_session,
)
from explorer.cli.tools import Commands, add_command, add_target_names, names, print_json
from explorer.errors import InvalidRequest
from explorer.model.metrics import TABLE_METRICS, Metric

#: Times of equal compilations differ: they rank a kernel on request only.
_RANKED = [metric for metric in TABLE_METRICS if metric.name != "compile_milliseconds"]

#: "mixed": one metric is better, a different metric worse. "failed": a version does not compile the kernel.
_State = Literal["failed", "worse", "mixed", "better", "same"]


def add(commands: Commands) -> None:
    parser = add_command(
        commands, "replay", run, "compile kernels with two Triton versions, and rank them by what changes"
    )
    add_kernels(parser, needs_paths=False)
    parser.add_argument(
        "--session",
        metavar="URL",
        help="address of the page of a session, in place of paths; its server compiles the kernels",
    )
    add_target_names(parser, DEFAULT_TARGETS)
    parser.add_argument(
        "--tritons",
        type=_two_versions,
        required=True,
        metavar="BEFORE,AFTER",
        help="the two Triton versions",
    )
    parser.add_argument(
        "--sort",
        choices=[metric.name for metric in TABLE_METRICS],
        help="metric to rank by, with the kernel that becomes worst first (default: the metric that changes "
        "most, whichever it is and in any direction)",
    )
    parser.add_argument(
        "--format",
        choices=["markdown", "csv", "json"],
        default="markdown",
        help="format of the table (default: %(default)s)",
    )


@dataclass(frozen=True)
class Replayed:
    """A kernel with its metrics by both versions; None: that version has no result, and `message` says why.

    `compare` is the address of the comparison; "" if there is none.
    """

    script: str
    kernel: str
    target: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    message: str = ""
    compare: str = ""

    @property
    def state(self) -> _State:
        """The state of the kernel after the change. The time to compile does not count."""
        if self.before is None or self.after is None:
            return "failed"
        verdicts = {metric.verdict(*self.values(metric)) for metric in _RANKED} - {"same"}
        if not verdicts:
            return "same"
        return "worse" if verdicts == {"worse"} else "better" if verdicts == {"better"} else "mixed"

    def values(self, metric: Metric) -> tuple[float | None, float | None]:
        """Return a metric before and after; None: unknown."""
        before, after = self.before or {}, self.after or {}
        return before.get(metric.name), after.get(metric.name)

    def worsening(self, metric: Metric) -> float | None:
        """Return the change as a share of the greater value, positive if it is worse; None: unknown."""
        before, after = self.values(metric)
        if before is None or after is None:
            return None
        share = (after - before) / (max(abs(before), abs(after)) or 1)
        return share if metric.better == "lower" else -share


def run(options: argparse.Namespace) -> int:
    """Compile, rank, and print the table. The status is 1 if a kernel has no result.

    Raises:
        InvalidRequest: a path cannot be read, or there is nothing to compile.
        ExplorerError: the server does not have the session.
    """
    options.triton = None  # the server that answers has the newest version
    if bool(options.paths) == bool(options.session):
        raise InvalidRequest("Name files or folders, or a session by --session URL.")
    rows = _session_rows(options) if options.session else _path_rows(options)
    if not rows:
        raise InvalidRequest(
            f"There is no kernel in {options.session or ', '.join(map(str, options.paths))}."
        )
    rows = ranked(rows, next((each for each in TABLE_METRICS if each.name == options.sort), None))
    if options.format == "json":
        print_json(_document(rows, options.tritons))
    else:
        print((csv_table if options.format == "csv" else markdown_table)(rows, options.tritons), end="")
    states = Counter(row.state for row in rows)
    counts = ", ".join(f"{count} {state}" for state, count in states.most_common())
    print(f"{len(rows)} kernel{'' if len(rows) == 1 else 's'}: {counts}.", file=sys.stderr)
    return 1 if states["failed"] else 0


def _path_rows(options: argparse.Namespace) -> list[Replayed]:
    scripts, damaged = read_scripts(options, Path())
    rows = ask(options, lambda api: _compile(api, scripts, options), is_for_one_job=False)
    return rows + [row for compiled in damaged for row in _replayed(compiled, "")]


def _session_rows(options: argparse.Namespace) -> list[Replayed]:
    url, _, session_id = options.session.partition("#")[0].rpartition("/s/")
    with connected(url) as api:
        api.url = url
        return _compile(api, read_session(api, session_id, options.targets), options)


def _compile(api: Api, scripts: list[Script], options: argparse.Namespace) -> list[Replayed]:
    """Compile scripts with both versions. If the user interrupts, return the finished kernels."""
    rows: list[Replayed] = []
    try:
        for compiled in KernelCompiler(api, options, options.tritons).compile(scripts):
            rows += _replayed(compiled, api.url)
    except KeyboardInterrupt:
        print("\nInterrupted: the table has the kernels that were compiled before.", file=sys.stderr)
    return rows


def ranked(rows: Iterable[Replayed], metric: Metric | None = None) -> list[Replayed]:
    """Return the rows in the order of their changes.

    Kernels that only one version compiles come first, kernels that no version compiles come last. The others
    are sorted by the greatest change of any metric or, with `metric`, by how much worse that metric becomes.
    """

    def place(row: Replayed) -> tuple[int, list[float], str, str, str]:
        name = (row.script, row.kernel, row.target)
        if (row.before is None) != (row.after is None):
            return 0, [], *name
        if metric is not None:
            share = row.worsening(metric)
            return (2, [], *name) if share is None else (1, [-share], *name)
        shares = [share for each in _RANKED if (share := row.worsening(each)) is not None]
        return (1, sorted(-abs(share) for share in shares), *name) if shares else (2, [], *name)

    return sorted(rows, key=place)


def _replayed(compiled: Compiled, url: str) -> Iterator[Replayed]:
    """Yield a row for each configuration of a kernel. `url` is the address of the server, if there is one."""
    if compiled.matrix is None:
        script, kernel, target = compiled.script, compiled.kernel, compiled.target
        yield Replayed(script, kernel, target, None, None, compiled.error)
        return
    cells = list(compiled.cells)
    for (name, before), (_, after) in zip(cells[::2], cells[1::2], strict=True):
        failures = [(cell["triton"], failure_of(cell)) for cell in (before, after)]
        is_linked = url and before["id"] and after["id"]
        yield Replayed(
            compiled.script,
            name,
            compiled.target,
            None if failures[0][1] else before["metrics"],
            None if failures[1][1] else after["metrics"],
            " ".join(f"Triton {triton}: {' '.join(each.split())}" for triton, each in failures if each),
            f"{url}/compare/{before['id']}..{after['id']}" if is_linked else "",
        )


# --- tables -------------------------------------------------------------------------------------


def markdown_table(rows: Sequence[Replayed], tritons: Sequence[str]) -> str:
    """Return a heading and a row for each kernel, with links if there is a server."""
    from explorer.matrix.tables import escaped  # slow to import

    titles = [metric.title + (f" ({metric.unit})" if metric.unit else "") for metric in TABLE_METRICS]
    lines = [["Kernel", "Target", *titles], ["---"] * 2 + ["--:"] * len(titles)]
    has_one_script = len({row.script for row in rows}) == 1
    for row in rows:
        name = row.kernel or "the script"
        kernel = escaped(name if has_one_script else f"{row.script}: {name}")
        head = [f"[{kernel}]({row.compare})" if row.compare else kernel, row.target]
        if row.message:
            lines.append([*head, f"failed: {escaped(row.message)}", *[""] * (len(titles) - 1)])
            continue
        cells = [_change(*row.values(metric), metric.name) for metric in TABLE_METRICS]
        lines.append([*head, *cells])
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"Triton {tritons[1]} after {tritons[0]}\n\n{table}"


def _change(before: float | None, after: float | None, name: str) -> str:
    from explorer.matrix.tables import metric_text  # slow to import

    old, new = metric_text(before, name) or "–", metric_text(after, name) or "–"
    if before == after:
        return "" if after is None else new
    share = f" ({(after - before) / before:+.0%})" if before and after is not None else ""
    return f"{old} → {new}{share}"


def csv_table(rows: Sequence[Replayed], tritons: Sequence[str]) -> str:
    """Return a row for each kernel with unformatted numbers, and the metrics by both versions."""
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    columns = [f"{metric.name}_{triton}" for metric in TABLE_METRICS for triton in tritons]
    writer.writerow(["script", "kernel", "target", "state", *columns, "message", "compare"])
    for row in rows:
        values = [value for metric in TABLE_METRICS for value in row.values(metric)]
        writer.writerow([row.script, row.kernel, row.target, row.state, *values, row.message, row.compare])
    return output.getvalue()


def _document(rows: Sequence[Replayed], tritons: Sequence[str]) -> dict[str, Any]:
    kernels = [{"state": row.state, **vars(row)} for row in rows]
    return {"before": tritons[0], "after": tritons[1], "kernels": kernels}


def _two_versions(text: str) -> list[str]:
    versions = names(text)
    if len(set(versions)) != 2 or len(versions) != 2:
        raise argparse.ArgumentTypeError(f"{text!r} is not two versions such as 3.6.0,3.9.0")
    return versions
