"""`debug`: compile a request in this process, without the sandbox."""

from __future__ import annotations

import argparse
import pdb
import sys
import traceback
from dataclasses import replace
from pathlib import Path

import msgspec

from explorer.cli.tools import Commands, add_command, format_diagnostic, printable, read_source
from explorer.errors import InvalidRequest, UnknownTriton
from explorer.model import (
    Diagnostic,
    Done,
    Event,
    Inspection,
    Log,
    Outcome,
    Pass,
    Progress,
    Request,
    Specialized,
    Stage,
    encode_event,
)
from explorer.model.source_lines import SourceLines
from explorer.sandbox.versions import installed_versions
from explorer.settings import Settings

_WARNING = (
    "The source is executed WITHOUT A SANDBOX, with all your rights: use your own kernels only. Prints "
    "of the pipeline, breakpoint() and tracebacks work as in any program. Time and memory have no limit."
)
#: A week: a breakpoint stops neither the script nor the job.
_SECONDS = 7 * 24 * 3600.0


def add(commands: Commands) -> None:
    parser = add_command(commands, "debug", run, "compile a request in this process, without the sandbox")
    parser.epilog = _WARNING
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="JSON file with the body of POST /api/v1/compilations, or result.json",
    )
    parser.add_argument("--json", action="store_true", help="print each event as a line of JSON")


def run(options: argparse.Namespace) -> int:
    """Compile the request, and print each event as it comes."""
    request = _use_triton(_read_request(options.file))
    from explorer.pipeline import time_limit
    from explorer.pipeline.job import perform

    lines = SourceLines(request.source, request.path, request.files)
    status: Outcome = "failed"
    has_error = False

    def emit(event: Event) -> None:
        nonlocal status, has_error
        if isinstance(event, Done):
            status = event.status
        elif isinstance(event, Diagnostic) and event.severity == "error":
            has_error = True
            if sys.exc_info()[0]:
                traceback.print_exc()
        if options.json:
            sys.stdout.buffer.write(encode_event(event))
            sys.stdout.buffer.flush()
        else:
            print(_line_of(event, lines), flush=True)

    time_limit.set_job_seconds(_SECONDS)
    time_limit.extend_script()
    # The output of the script is redirected.
    sys.breakpointhook = pdb.Pdb(stdin=sys.stdin, stdout=sys.stdout).set_trace
    perform(request, emit)
    return 1 if has_error or status == "failed" else 0


def _read_request(path: Path) -> Request:
    from explorer.views.http import decode_body  # slow to import
    from explorer.views.requests import CompilationBody, unlimited_compilation

    text = read_source(path)
    try:
        document = decode_body(text.encode(), dict[str, msgspec.Raw])
        body = decode_body(bytes(document.get("request", text.encode())), CompilationBody)
        return unlimited_compilation(body, body.target, body.triton or "")
    except InvalidRequest as error:
        raise InvalidRequest(f"{path}: {error.detail}") from error


def _use_triton(request: Request) -> Request:
    """Let the Triton version of the request be imported, or the newest one.

    Raises:
        UnknownTriton: it is not installed.
    """
    versions = installed_versions(Settings.from_environment().tritons_dir)
    version = request.triton or next(iter(versions), "")
    if version not in versions:
        raise UnknownTriton(
            f"Triton {version} is not installed. Installed: {', '.join(versions) or 'none'}. "
            "Add one with `triton-explorer toolchain add`."
        )
    if folder := versions[version]:
        sys.path.insert(0, str(folder))
    return replace(request, triton=version)


def _line_of(event: Event, lines: SourceLines) -> str:
    """Return an event as a short text."""
    match event:
        case Inspection():
            names = ", ".join(kernel.name for kernel in event.kernels)
            return f"inspection: kernels: {printable(names)}; launches: {len(event.launches)}"
        case Specialized():
            return f"specialized: {printable(event.kernel)}: {printable(event.signature)}"
        case Stage():
            return f"stage {event.name}: {event.text.count(chr(10))} lines in {event.milliseconds:.1f} ms"
        case Pass():
            change = "failed" if event.failed else "unchanged" if event.text is None else "changed"
            return (
                f"pass {event.index} {event.title} ({event.stage}): {change} in {event.milliseconds:.1f} ms"
            )
        case Diagnostic():
            path, line = lines.place(event.line)
            return format_diagnostic(replace(event, line=line), path or "kernel.py")
        case Progress():
            return f"progress: {event.text}"
        case Log():
            return f"log {event.source}: {event.text.rstrip()}"
        case Done():
            return f"done: {event.status} in {event.milliseconds:.0f} ms"
        case _:
            return event.kind
