"""`improve`: try the changes that findings propose, one after another, and print the difference."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.cli.api import Api, sender_to
from explorer.cli.compile import add_kernel, compile_kernel, request_body
from explorer.cli.tools import (
    Commands,
    add_command,
    add_source,
    lines_of,
    print_json,
    printable,
    read_given_source,
    report,
    report_file,
)
from explorer.model import Diagnostic

if TYPE_CHECKING:  # slow to import
    from collections.abc import Iterator

    from explorer.agents.api import Found, Reader
    from explorer.agents.search import Improvement, Search, Try

DEFAULT_SECONDS = 60.0


def add(commands: Commands) -> None:
    parser = add_command(
        commands, "improve", run, "try the changes that findings propose; print the changes that are proven"
    )
    add_source(parser)
    add_kernel(parser)
    parser.add_argument(
        "--seconds",
        type=float,
        default=DEFAULT_SECONDS,
        metavar="SECONDS",
        help="begin no compilation and no run after this time (default: %(default)s)",
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="write the source with the proven changes to FILE, if there are some",
    )
    parser.add_argument("--json", action="store_true", help="print the tries and the result as JSON")


def run(options: argparse.Namespace) -> int:
    """Try changes until none is proven, or the time is over."""
    import msgspec

    from explorer.agents.search import Search
    from explorer.documents import CompilationDocument

    body = request_body(options, read_given_source(options.file))
    with sender_to(None, options) as (url, send):
        api = Api(send, url)
        _, index = compile_kernel(api, body)
        if index["status"] != "complete":
            diagnostics = [Diagnostic(**each) for each in index["diagnostics"]]
            return report(index["status"], diagnostics, options, lines_of(index["request"]))
        search = Search(BlockingApi(api), msgspec.convert(index, CompilationDocument), options.seconds)
        for each in tries_of(search):
            if not options.json:
                print(printable(f"{each.rule}: {each.change}: {each.verdict}"), flush=True)
        found = search.result
    if options.json:
        print_json(found)
    else:
        print("\n".join(map(printable, _summary(found))))
    if options.output:
        _write(options.output, found, search.source)
    return 0


def _write(file: Path, found: Improvement, source: str) -> None:
    """Write the changed source, and say which options and constants it does not have."""
    if found.diff:
        file.write_text(source, encoding="utf-8")
        report_file(file)
    else:
        reason = "its text stays the same" if found.not_written else "no change is proven to help"
        print(f"{file} is not written: {reason}.", file=sys.stderr)
    if found.diff and found.not_written:
        print(_missing(found, str(file)), file=sys.stderr)


def _missing(found: Improvement, source: str = "The source") -> str:
    """Say which options and constants the launch of a source cannot have."""
    values = {**found.options, **found.constants}
    missing = ", ".join(f"{name}={values[name]}" for name in found.not_written)
    return f"{source} does not have {missing}: change the launch by hand."


class BlockingApi:
    """An API for tools that waits for each answer."""

    def __init__(self, api: Api) -> None:
        self.url = api.url
        self._api = api

    async def send(self, method: str, path: str, body: bytes | None, read: Reader[Found]) -> Found:
        response = self._api.send(method, path, body)
        return read(response.status, response.body)

    async def follow(self, path: str, seconds: float) -> None:  # noqa: ARG002  it waits for the end
        """Read an event stream until it ends."""
        self._api.send("GET", path)


def tries_of(search: Search) -> Iterator[Try]:
    """Yield the tries of a search with a `BlockingApi`, none of whose steps is suspended."""
    tries = search.tries()
    while True:
        try:
            tries.__anext__().send(None)
        except StopIteration as step:
            yield step.value
        except StopAsyncIteration:
            return


def _summary(found: Improvement) -> Iterator[str]:
    """Yield the figures before and after, the options, and the difference of the source."""
    from explorer.agents.search import microseconds

    if not found.is_complete:
        yield "Changes are left to try. Give more --seconds, or try again later."
    if not any(each.is_taken for each in found.tries):
        yield "No change is proven to help: the kernel stays as it is."
        return
    yield ""
    for each in found.figures:
        yield f"{each.name}: {each.before:,} → {each.after:,}"
    first, last = found.time_before_ns, found.time_after_ns
    yield "time: not measured" if first is None else f"time: {microseconds(first)} → {microseconds(last)}"
    for kind, values in (("Options", found.options), ("Constants", found.constants)):
        if values:
            yield f"{kind} of the launch: {', '.join(f'{name}={value}' for name, value in values.items())}"
    if found.not_written:
        yield _missing(found)
    yield from found.diff
