"""The commands that run kernels: `profile` a file, `record` the gallery."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import msgspec

from explorer.cli_tools import (
    Commands,
    add_command,
    add_source,
    add_unsafe,
    format_diagnostic,
    make_folder,
    open_services,
    read_source,
    report,
    tell_written,
)
from explorer.errors import InvalidRequest, NoDevice
from explorer.examples import EXAMPLES
from explorer.model import Measure, Progress, Request
from explorer.record import Recorder, record_example, write_recordings
from explorer.run_documents import run_document
from explorer.run_export import RunFileLinks, write_run
from explorer.run_requests import RunFields, make_run, run_request
from explorer.run_summary import summary_of
from explorer.services import DEFAULT_TARGET, Services
from explorer.store import Record

MEASURES: tuple[Measure, ...] = get_args(Measure)
#: One run of the gallery's measures takes minutes: sweeps over sizes and a profiler.
RECORD_SECONDS = 1800.0


def profile(options: argparse.Namespace) -> int:
    """Run a kernel, measure it, and print what was found out."""
    if options.output:
        make_folder(options.output)
    with open_services(options) as services:
        device = options.device or ("interpreter" if services.queue.problem("gpu") else "gpu")
        request = Request(
            source=read_source(options.file),
            target=services.target_name(options.target or _usual_target(services, device)),
            triton=services.triton_version(options.triton),
            kernel=options.kernel,
            launch=options.launch,
            config=options.config,
        )
        fields: dict[str, Any] = {
            "device": device,
            "measures": tuple(options.measure or ("check", "counts" if device == "interpreter" else "time")),
            "sizes": dict(options.size),
            "is_benchmark": options.benchmark,
            "repeats": options.repeats,
            "seed": options.seed,
        }
        run = make_run(msgspec.convert(fields, RunFields))
        compilation = services.queue.complete(request)
        if compilation.status == "failed" and device == "gpu":
            return report(compilation, options.file)
        record = _run(services, run_request(services, request, run))
        if options.output:
            write_run(record, compilation, options.output)
            tell_written(options.output)
        elif options.json:
            document = run_document(record, RunFileLinks(), compilation)
            measured = {name: msgspec.Raw(record.measurement(name)) for name in record.result.measurements}
            sys.stdout.buffer.write(msgspec.json.encode({"run": document, "measured": measured}) + b"\n")
        else:
            print(summary_of(record, compilation), end="")
    return report(record, options.file)


def record(options: argparse.Namespace) -> int:
    """Run and measure the gallery, and write what was found out as recordings."""
    names = tuple(options.name) or EXAMPLES
    if unknown := [name for name in names if name not in EXAMPLES]:
        raise InvalidRequest(f"The gallery has no {unknown[0]!r}. It has {', '.join(EXAMPLES)}.")
    make_folder(options.output)
    command = " ".join(["triton-explorer record", *options.name])
    status, roofs = 0, None
    limits = {"gpu_wall_limit_seconds": RECORD_SECONDS, "wall_limit_seconds": 120.0, "cpu_limit_seconds": 120}
    with open_services(options, **limits) as services:
        if (reason := services.queue.problem("gpu")) is not None:
            raise NoDevice(f"{reason} Recordings are made on a machine with a GPU.")
        for name in names:
            print(f"{name} …", file=sys.stderr)
            recorder = Recorder(services, _run, roofs)
            record_example(recorder, name, _usual_target(services, "gpu"))
            roofs = recorder.roofs
            for diagnostic in recorder.diagnostics:
                print(format_diagnostic(diagnostic, name), file=sys.stderr)
            if recorder.runs:
                date = datetime.now(UTC).replace(microsecond=0)
                path = write_recordings(options.output, name, command, date, recorder.runs)
                print(f"{path}: {path.stat().st_size:,} bytes, {len(recorder.runs)} runs")
            print(*recorder.summaries, sep="\n", flush=True)
            status = 1 if recorder.has_failed else status
    return status


def _usual_target(services: Services, device: str) -> str:
    """That of this machine's GPU, for a run on it."""
    return (services.gpu_target if device == "gpu" else None) or DEFAULT_TARGET


def _run(services: Services, request: Request) -> Record:
    """Run, and tell on a terminal how far it is."""
    found = services.queue.submit(request)
    shows = sys.stderr.isatty()
    for entry in services.queue.follow(found.id):
        if shows and isinstance(entry, Progress):
            share = entry.done / entry.total if entry.total else 0.0
            print(f"\r\x1b[K{share:4.0%}  {entry.text}", end="", file=sys.stderr, flush=True)
    if shows:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    return services.queue.find(found.id)


# --- the parser -----------------------------------------------------------------------------------


def add_profile(commands: Commands[argparse.ArgumentParser]) -> None:
    """`profile FILE`."""
    parser = add_command(commands, "profile", profile, "run a kernel, check it, and measure it")
    add_source(parser)
    parser.set_defaults(target=None)
    parser.add_argument("--kernel", help="name of the kernel (default: the only one)")
    parser.add_argument("--launch", type=int, help="which launch of the file, from 0 on")
    parser.add_argument("--config", type=int, help="which autotune configuration, from 0 on")
    parser.add_argument(
        "--device", choices=("gpu", "interpreter"), help="where to run it (default: the GPU, if there is one)"
    )
    parser.add_argument(
        "--measure",
        action="append",
        choices=MEASURES,
        metavar="NAME",
        help=f"what to find out; may be repeated: {', '.join(MEASURES)} (default: check and time or counts)",
    )
    parser.add_argument(
        "--benchmark", action="store_true", help="run what the file's perf_report function launches"
    )
    parser.add_argument(
        "--size",
        type=_size,
        action="append",
        default=[],
        metavar="NAME=NUMBER",
        help="a size of the benchmark; may be repeated (default: its largest)",
    )
    parser.add_argument("--repeats", type=int, default=50, help="launches that are timed (default: 50)")
    parser.add_argument("--seed", type=int, default=0, help="of the random inputs (default: 0)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--json", action="store_true", help="print all of it as JSON")
    what.add_argument("--output", type=Path, metavar="DIR", help="write run.json and a file a measurement")


def add_record(commands: Commands[argparse.ArgumentParser]) -> None:
    """`record [NAME …]`."""
    parser = add_command(commands, "record", record, "measure the gallery on this machine's GPU")
    parser.add_argument("name", nargs="*", metavar="NAME", help="scripts of the gallery (default: all)")
    parser.add_argument(
        "--output", type=Path, default=Path("proton_profiles"), metavar="DIR", help="default: %(default)s"
    )
    add_unsafe(parser)


def _size(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    if not (name.isidentifier() and number.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=NUMBER")
    return name, int(number)
