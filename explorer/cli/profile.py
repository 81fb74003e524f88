"""`profile`: run a kernel and measure it."""

from __future__ import annotations

import argparse
import sys
import threading
from pathlib import Path
from typing import Any

import msgspec

from explorer.cli.tools import (
    Commands,
    add_command,
    add_source,
    default_target,
    make_folder,
    open_services,
    read_files,
    read_source,
    report,
    report_file,
    run_and_show_progress,
    summarize,
)
from explorer.errors import NoDevice
from explorer.model import DeviceKind, Request, to_plain
from explorer.model.measurements import MEASURES, measures_of


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = add_command(commands, "profile", run, "run a kernel, check it, and measure it")
    add_source(parser)
    parser.set_defaults(target=None)
    parser.add_argument("--kernel", help="name of the kernel (default: the only one)")
    parser.add_argument("--launch", type=int, help="index of the launch in the file, from 0 on")
    parser.add_argument("--config", type=int, help="index of the autotune configuration, from 0 on")
    parser.add_argument(
        "--device",
        choices=("gpu", "interpreter"),
        help="device to run on (default: the GPU, if there is one)",
    )
    parser.add_argument(
        "--measure",
        action="append",
        choices=MEASURES,
        metavar="NAME",
        help=f"measure; may be repeated: {', '.join(MEASURES)} (default: check, and time or counts)",
    )
    parser.add_argument(
        "--benchmark", action="store_true", help="run the launches of the file's perf_report function"
    )
    parser.add_argument(
        "--size",
        type=_size,
        action="append",
        default=[],
        metavar="NAME=NUMBER",
        help="size of the benchmark; may be repeated (default: the largest)",
    )
    parser.add_argument("--repeats", type=int, default=50, help="number of timed launches (default: 50)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random inputs (default: 0)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--json", action="store_true", help="print the run and its measurements as JSON")
    what.add_argument(
        "--output", type=Path, metavar="DIR", help="write run.json and one file for each measurement"
    )


def run(options: argparse.Namespace) -> int:
    """Run a kernel, measure it, and print or write the measurements."""
    from explorer.runs.documents import run_document  # slow to import
    from explorer.runs.export import RunFileLinks, write_run
    from explorer.runs.requests import RunFields, make_run, run_request

    if options.output:
        make_folder(options.output)
    with open_services(options) as services:
        problem = services.queue.problem("gpu")
        device: DeviceKind = options.device or ("interpreter" if problem else "gpu")
        for measure in options.measure or ():
            if device not in MEASURES[measure].devices:
                raise NoDevice(_not_measured(measure, device, problem))
        if device == "gpu":  # Its sandbox starts while the kernel is compiled.
            threading.Thread(target=services.warm_up_gpus, daemon=True).start()
        request = Request(
            source=read_source(options.file),
            target=services.target_name(options.target or default_target(services, device)),
            triton=services.triton_version(options.triton),
            kernel=options.kernel,
            launch=options.launch,
            config=options.config,
            **read_files(options),
        )
        fields: dict[str, Any] = {
            "device": device,
            "measures": tuple(options.measure or ("check", "counts" if device == "interpreter" else "time")),
            "sizes": dict(options.size),
            "is_benchmark": options.benchmark,
            "repeats": options.repeats,
            "seed": options.seed,
        }
        run_options = make_run(msgspec.convert(fields, RunFields))
        compilation = services.queue.complete(request)
        lines = compilation.source_numbers
        if compilation.status == "failed" and device == "gpu":
            return report(compilation.status, compilation.result.diagnostics, options, lines)
        record = run_and_show_progress(services, run_request(services.queue, request, run_options))
        if options.output:
            write_run(record, compilation, options.output)
            report_file(options.output)
        elif options.json:
            document = run_document(record, RunFileLinks(), compilation)
            measured = {name: msgspec.Raw(record.measurement(name)) for name in record.result.measurements}
            printed = {"request": to_plain(request), "run": document, "measured": measured}
            sys.stdout.buffer.write(msgspec.json.encode(printed) + b"\n")
        else:
            print(summarize(services, record, compilation), end="")
    return report(record.status, record.result.diagnostics, options, lines)


def _not_measured(measure: str, device: DeviceKind, problem: str | None) -> str:
    names = ", ".join(measures_of(device))
    if device == "interpreter":
        return (
            f"{measure} is measured on a GPU. {problem or 'Leave out --device.'} The interpreter has {names}."
        )
    return f"{measure} is measured in the interpreter: add --device interpreter. A GPU has {names}."


def _size(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    if not (name.isidentifier() and number.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=NUMBER")
    return name, int(number)
