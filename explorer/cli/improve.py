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
from explorer.cli.tools import Commands, add_command, add_source, lines_of, printable, read_source, report
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
    """Takes the first proven change of the most costly finding, again and again."""

    def __init__(self, api: Api, options: argparse.Namespace, deadline: float) -> None:
        self._api = api
        self._deadline = deadline
        self.before = self.body = request_body(options, read_source(options.file))
        self._address, self.index = compile_kernel(api, self.body)
        self._first = self.index
        self._taken: list[_Document] = []
        self._is_over = False
        if self.index["status"] == "complete":
            while self._step():
                pass

    def _step(self) -> bool:
        """Try changes until one is proven. Return whether there is one."""
        findings = self._api.document(f"{self._address}/findings")["findings"]
        tried: list[_Document] = []
        for finding in findings:
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
        """Compile a change. Take it if it is proven."""
        body = _changed(self.body, change)
        address, index = compile_kernel(self._api, body)
        verdict = "does not compile"
        if index["status"] == "complete":
            path = f"{self._address}/compare/{index['id']}/findings"
            verdict = _verdict(finding, self._api.document(path))
        print(printable(f"{finding['rule']}: {change['text']}: {verdict}"), flush=True)
        if verdict != _PROVEN:
            return False
        self.body, self._address, self.index = body, address, index
        self._taken.append(change)
        return True

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
        yield "time: not measured"
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
