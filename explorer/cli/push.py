"""`push`: send a capture or a run to a server, which makes a page of it."""

from __future__ import annotations

import argparse
import secrets
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import msgspec

from explorer.capture.read import CapturedKernel, Damaged, WrittenKernel
from explorer.capture.readers import open_kernels
from explorer.capture.readers.bodies import counts_of, request_of
from explorer.capture.readers.source import LocalSources
from explorer.cli.api import API, Api, chosen_server, connected
from explorer.cli.tools import Commands, add_command, printable
from explorer.errors import ExplorerError, InvalidRequest
from explorer.model.limits import MOST_LAUNCHES, MOST_PROBLEMS

_LONGEST_TITLE = 200
_LONGEST_REASON = 1000
#: The suffixes of scripts, and of stages that can be compiled.
_SOURCES = (".py", ".ttir", ".ttgir", ".glir", ".mlir", ".llir", ".ll", ".ptx")


def add(commands: Commands) -> None:
    parser = add_command(
        commands, "push", run, "send a capture or a run to a server, which makes a page of it"
    )
    parser.add_argument(
        "path",
        type=Path,
        metavar="FOLDER | FILE",
        help="folder that capture or TRITON_KERNEL_DUMP has written; Triton's cache; "
        "traces of tritonparse; logs of TORCH_TRACE or TORCH_LOGS=output_code; cubins; file with the "
        "output of profile --json",
    )
    parser.add_argument(
        "--to", metavar="URL", help="address of the server (default: the server of the data folder)"
    )
    parser.add_argument(
        "--private",
        action="store_true",
        help="send the results to addresses that nobody can guess",
    )
    parser.add_argument("--title", default="", help="title of the page (default: the name of the program)")
    parser.add_argument(
        "--no-compile",
        action="store_true",
        help="do not compile the kernels on the server, only show the program's results",
    )
    parser.add_argument(
        "--sources",
        action="store_true",
        help="for a cache, a dump or a trace: read the kernels' functions from the files of this machine "
        "that their code names, and send them",
    )


def run(options: argparse.Namespace) -> int:
    """Send the kernels and print the address of their page. The status is 1 if a kernel is missing there."""
    url = chosen_server(options.to or "", "Name one with --to URL.")
    private = secrets.token_hex(16) if options.private else None
    reader = open_kernels(options.path, LocalSources() if options.sources else None)
    if reader is None:
        with connected(url) as api:
            print(urljoin(url, _send_run(api, options.path, private)))
        return 0
    missing: list[dict[str, str]] = []
    sent: dict[str, dict[str, Any]] = {}
    with connected(url) as api:
        for kernel in reader.kernels():
            try:
                if isinstance(kernel, Damaged):
                    raise ExplorerError(kernel.reason)
                _add(sent, _send(api, kernel, private, is_compiled=not options.no_compile))
            except ExplorerError as error:
                name = kernel.file.kernel if isinstance(kernel, CapturedKernel) else kernel.name
                print(printable(f"{name}: not sent: {error.detail}"), file=sys.stderr)
                missing.append({"name": name[:_LONGEST_TITLE], "reason": error.detail[:_LONGEST_REASON]})
        if not sent:
            raise InvalidRequest(f"{options.path} has no kernel that can be sent.")
        title = options.title or ", ".join(reader.programs) or options.path.absolute().name
        session = {
            "title": title[:_LONGEST_TITLE],
            "kernels": list(sent.values()),
            "problems": missing[:MOST_PROBLEMS] or None,
        }
        ticket = api.post(f"{API}/sessions", session)
    left_out = f", {len(missing)} not" if missing else ""
    print(f"{len(sent)} kernel{'' if len(sent) == 1 else 's'} sent{left_out}.", file=sys.stderr)
    print(urljoin(url, ticket["url"]))
    return 1 if missing else 0


def _add(entries: dict[str, dict[str, Any]], entry: dict[str, Any]) -> None:
    """Add the entry of a kernel. Kernels that differ only in unshown properties share an entry."""
    present = entries.setdefault(entry["compilation"], entry)
    if present is not entry and entry["launches"] is not None:
        present["launches"] = min((present["launches"] or 0) + entry["launches"], MOST_LAUNCHES)


def _send(
    api: Api, kernel: CapturedKernel | WrittenKernel, private: str | None, *, is_compiled: bool
) -> dict[str, Any]:
    """Send a kernel, and return its entry in the session. `private` is the key of private results."""
    address, body = request_of(kernel, is_compiled=is_compiled)
    ticket = api.post(f"{API}/{address}", body | {"private": private})
    return {"compilation": ticket["id"], "again": ticket.get("again"), **counts_of(kernel)}


class _RunRow(msgspec.Struct):
    run: dict[str, Any]
    diagnostics: list[dict[str, Any]]
    status: str
    milliseconds: float | None


class _MeasuredRun(msgspec.Struct):
    """The parts of the output of `profile --json` that are sent."""

    request: dict[str, Any]
    run: _RunRow
    measured: dict[str, Any]


def _send_run(api: Api, path: Path, private: str | None) -> str:
    """Send the kernel of a run and its measurements. Return the address of its page.

    Raises:
        InvalidRequest: the file has no run that has ended.
        ExplorerError: the server refuses.
    """
    from explorer.views.requests import CompilationBody  # slow to import

    try:
        measured = msgspec.json.decode(path.read_bytes(), type=_MeasuredRun)
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read: {error.strerror}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if path.suffix in _SOURCES:
            raise InvalidRequest(
                f"{path} is a source, not a capture or a run. Compile it with `triton-explorer compile "
                f"{path.name}`, also if it is the text of a stage, or paste it into the page."
            ) from error
        raise InvalidRequest(
            f"{path} has no run: {error}. Write one with profile --json > {path.name}."
        ) from error
    fields = CompilationBody.__struct_fields__
    asked = {name: value for name, value in measured.request.items() if name in fields} | {"private": private}
    compilation = api.post(f"{API}/compilations", asked)
    run = measured.run
    # The profilers' own files can be many times as long as everything else.
    documents = {name: document for name, document in measured.measured.items() if name != "files"}
    sent = api.post(
        f"{API}/runs/imported",
        {
            "compilation": compilation["id"],
            "run": run.run,
            "measurements": documents,
            "diagnostics": run.diagnostics,
            "status": run.status,
            "milliseconds": run.milliseconds,
        },
    )
    return f"{compilation['url']}#panes=run:{sent['id']}"
