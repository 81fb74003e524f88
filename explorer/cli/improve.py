"""`improve`: try the changes that findings propose, one after another, and print the difference."""

from __future__ import annotations

import argparse
import difflib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from explorer.analysis.source_edits import edited
from explorer.cli.api import Api, ask
from explorer.cli.compile import add_kernel, compile_kernel, request_body
from explorer.cli.profile import wait_for_run
from explorer.cli.tools import Commands, add_command, add_source, lines_of, printable, read_source, report
from explorer.errors import ExplorerError
from explorer.model import Diagnostic, LineEdit

_DEFAULT_SECONDS = 60
_Document = dict[str, Any]
_FIGURES = {
    "registers": ("registers",),
    "spilled bytes": ("spill_stores_bytes", "spill_loads_bytes"),
    "bytes of shared memory": ("shared_bytes",),
}


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = add_command(
        commands, "improve", run, "try the changes that findings propose; print the changes that are proven"
    )
    add_source(parser)
    add_kernel(parser)
    parser.add_argument(
        "--seconds",
        type=float,
        default=_DEFAULT_SECONDS,
        metavar="SECONDS",
        help="begin no compilation after this time (default: %(default)s)",
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the changed source to FILE")


def run(options: argparse.Namespace) -> int:
    """Try changes until none is proven, or the time is over."""
    deadline = time.monotonic() + options.seconds
    search = ask(options, lambda api: _Search(api, options, deadline))
    if search.index["status"] != "complete":
        diagnostics = [Diagnostic(**each) for each in search.index["diagnostics"]]
        return report(search.index["status"], diagnostics, options, lines_of(search.index["request"]))
    for line in search.summary():
        print(printable(line))
    if options.output:
        options.output.write_text(search.body["source"])
    return 0


class _Search:
    """Takes the first proven change of the most costly finding, again and again.

    A change of the source or of a constexpr is proven if the kernel also writes the same. With a GPU, a
    change is taken only if the kernel is faster.
    """

    def __init__(self, api: Api, options: argparse.Namespace, deadline: float) -> None:
        self._api = api
        self._deadline = deadline
        self.before = self.body = request_body(options, read_source(options.file))
        self._address, self.index = compile_kernel(api, self.body)
        self._first = self.index
        self._taken: list[_Document] = []
        self._is_over = False
        gpu = api.health()["devices"]["gpu"]
        self._device = "gpu" if gpu["available"] and gpu["target"] == self.body["target"] else "interpreter"
        #: The times of the first kernel and of the present one; None: not measured.
        self._times: list[float | None] = [None, None]
        if self.index["status"] == "complete":
            if self._device == "gpu":
                _, time_ns = self._run(self.index["id"])
                self._times = [time_ns, time_ns]
                if time_ns is None:  # The GPU cannot run it: the interpreter may compare the results.
                    self._device = "interpreter"
            while self._step():
                pass

    def _step(self) -> bool:
        """Try changes until one is proven. Return whether there is one."""
        findings = self._api.document(f"{self._address}/findings")["findings"]
        tried: list[_Document] = []
        for finding in findings:
            if finding["rule"] in _NOT_FASTER:
                continue
            for change in finding["changes"]:
                if change in tried:
                    continue
                tried.append(change)
                if time.monotonic() > self._deadline:
                    self._is_over = True
                    return False
                if self._try(finding, change):
                    return True
        return False

    def _try(self, finding: _Document, change: _Document) -> bool:
        """Compile a change. Take it if it is proven, and faster if there is a GPU."""
        body = _changed(self.body, change)
        address, index = compile_kernel(self._api, body)
        verdict, time_ns = "does not compile", None
        if index["status"] == "complete":
            path = f"{self._address}/compare/{index['id']}/findings"
            verdict = _verdict(finding, self._api.document(path))
        is_proven = verdict == _PROVEN
        if is_proven and (self._device == "gpu" or change["edits"] or change["constants"]):
            results, time_ns = self._run(index["id"])
            is_proven = results != _OTHER_RESULTS
            verdict = f"{verdict}, {results}" if is_proven else results
        if is_proven and (before_ns := self._times[1]) is not None:
            verdict = f"{verdict}, {_microseconds(before_ns)} → {_microseconds(time_ns)}"
            is_proven = time_ns is not None and time_ns < _FASTER * before_ns
        print(printable(f"{finding['rule']}: {change['text']}: {verdict}"), flush=True)
        if is_proven:
            self.body, self._address, self.index = body, address, index
            self._times[1] = time_ns
            self._taken.append(change)
        return is_proven

    def _run(self, compilation: str) -> tuple[str, float | None]:
        """Run a kernel. Return whether it writes what the first one writes, and its time in nanoseconds."""
        measures = ["check", "time"] if self._device == "gpu" else ["check"]
        fields = {"device": self._device, "measures": measures}
        try:
            address = wait_for_run(
                self._api, {"compilation": compilation, "original": self._first["id"], "run": fields}
            )
        except ExplorerError as error:
            return f"results not compared: {error}", None
        run = self._api.document(address)
        names = [each["name"] for each in run["measurements"]]
        time_ns = None
        if "timings" in names:
            timings = self._api.document(f"{address}/measurements/timings")["timings"]
            time_ns = next((each["median_ns"] for each in timings if each["cache"] == "cold"), None)
        if "check" not in names:
            reasons = [each["message"] for each in run["diagnostics"] if each["severity"] == "error"]
            return f"results not compared: {(reasons or ['the run failed'])[0]}", time_ns
        check = self._api.document(f"{address}/measurements/check")
        if check["reason"]:
            return f"results not compared: {check['reason']}", time_ns
        return "same results" if all(
            each["matches"] for each in check["outputs"]
        ) else _OTHER_RESULTS, time_ns

    def summary(self) -> Iterator[str]:
        """Yield the taken changes, the figures before and after, and the difference of the source."""
        if self._is_over:
            yield "The time is over. With more --seconds, further changes are tried."
        if not self._taken:
            yield "No change is proven: the kernel stays as it is."
            return
        yield ""
        for name, parts in _FIGURES.items():
            old, now = (sum(each["resources"].get(part) or 0 for part in parts) for each in self._ends)
            yield f"{name}: {old:,} → {now:,}"
        first, last = self._times
        measured = first is not None and last is not None
        yield f"time: {_microseconds(first)} → {_microseconds(last)}" if measured else "time: not measured"
        for kind in ("options", "constants"):
            found = {name: value for each in self._taken for name, value in each[kind].items()}
            if found:
                words = ", ".join(f"{name}={value}" for name, value in found.items())
                yield f"{'Options' if kind == 'options' else 'Constants'} of the launch: {words}"
        old, now = (each["source"].splitlines() for each in (self.before, self.body))
        yield from difflib.unified_diff(old, now, "before", "after", lineterm="")

    @property
    def _ends(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return self._first, self.index


_PROVEN = "proven in the compiler"
_OTHER_RESULTS = "the kernel writes other results"
#: The share of the former time of a kernel that is faster; times differ by less than that from run to run.
_FASTER = 0.98
#: The rules whose changes make no kernel faster that is compiled and launched once.
_NOT_FASTER = ("assertions", "autotune_keys")


def _microseconds(time_ns: float | None) -> str:
    return "unknown" if time_ns is None else f"{time_ns / 1000:.1f} µs"


def _verdict(finding: _Document, changes: _Document) -> str:
    """Return what a compilation with a change says about a finding."""
    key = finding["rule"], finding["source_line"]
    if key not in [(each["rule"], each["source_line"]) for each in changes["vanished"]]:
        return "the finding stays"
    if changes["fixed"]:
        return f"the grid of the script does not follow {', '.join(changes['fixed'])}"
    return "other findings appear" if changes["is_worse"] else _PROVEN


def _changed(body: dict[str, Any], change: _Document) -> dict[str, Any]:
    """Return the body of a request with a change."""
    return {
        **body,
        "source": edited(body["source"], (LineEdit(each["line"], each["text"]) for each in change["edits"])),
        "options": {**(body.get("options") or {}), **change["options"]} or None,
        "constants": {**(body.get("constants") or {}), **change["constants"]} or None,
    }
