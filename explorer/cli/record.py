"""`record`: record profiles of the gallery on this machine's GPU."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.cli.tools import (
    Commands,
    add_command,
    add_unsafe,
    format_diagnostic,
    make_folder,
    open_services,
    run_and_show_progress,
    summarize,
)
from explorer.errors import InvalidRequest, NoDevice
from explorer.examples import EXAMPLES
from explorer.model import Request, Run
from explorer.model.hardware import DEFAULT_TARGET

if TYPE_CHECKING:  # slow to import
    from explorer.profiles.write import ProfileRecorder
    from explorer.services import Services
    from explorer.store import Record

#: A run with all measures takes minutes: it sweeps over sizes and uses profilers.
WALL_LIMIT_SECONDS = 1800.0


def add(commands: Commands) -> None:
    parser = add_command(commands, "record", run, "record profiles of the gallery on this machine's GPU")
    parser.add_argument("name", nargs="*", metavar="NAME", help="script of the gallery (default: all)")
    parser.add_argument(
        "--output", type=Path, default=Path("proton_profiles"), metavar="DIR", help="default: %(default)s"
    )
    add_unsafe(parser)


def run(options: argparse.Namespace) -> int:
    """Run and measure the gallery, and write the profiles."""
    names = tuple(options.name) or EXAMPLES
    if unknown := [name for name in names if name not in EXAMPLES]:
        raise InvalidRequest(f"The gallery has no example {unknown[0]!r}. It has {', '.join(EXAMPLES)}.")
    make_folder(options.output)
    limits = {
        "gpu_wall_limit_seconds": WALL_LIMIT_SECONDS,
        "wall_limit_seconds": 120.0,
        "cpu_limit_seconds": 120,
    }
    recorder = None
    status = 0
    with open_services(options, **limits) as services:
        if (reason := services.queue.problem("gpu")) is not None:
            raise NoDevice(f"{reason} Profiles are recorded on a machine with a GPU.")
        for name in names:
            print(f"{name} …", file=sys.stderr)
            recorder = _record(services, name, recorder)
            _write(services, options, name, recorder)
            status = 1 if recorder.has_failed else status
    return status


def _record(services: Services, name: str, last: ProfileRecorder | None) -> ProfileRecorder:
    """Record an example. The roofs of the machine are measured once, with the first example."""
    from explorer.profiles.write import ProfileRecorder, record_example
    from explorer.runs.requests import run_request

    def run_kernel(compilation: Request, run: Run) -> Record:
        return run_and_show_progress(services, run_request(services.queue, compilation, run))

    recorder = ProfileRecorder(services.queue, run_kernel, last.roofs if last else None)
    record_example(recorder, name, services.gpu_target or DEFAULT_TARGET, services.triton_version(None))
    return recorder


def _write(services: Services, options: argparse.Namespace, name: str, recorder: ProfileRecorder) -> None:
    from explorer.profiles.write import write_profiles

    for diagnostic in recorder.diagnostics:
        print(format_diagnostic(diagnostic, name), file=sys.stderr)
    if recorder.runs:
        command = " ".join(["triton-explorer record", *options.name])
        date = datetime.now(UTC).replace(microsecond=0)
        path = write_profiles(options.output, name, command, date, recorder.runs)
        print(f"{path}: {path.stat().st_size:,} bytes, {len(recorder.runs)} runs")
    summaries = (summarize(services, *each) for each in recorder.finished)
    print(*summaries, sep="\n", flush=True)
