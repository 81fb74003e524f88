"""`profile`: run a kernel and measure it."""

from __future__ import annotations

import argparse
import re
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from explorer.cli.api import API, Api, ask
from explorer.cli.compile import compile_kernel
from explorer.cli.tools import (
    Commands,
    add_command,
    add_source,
    format_progress,
    lines_of,
    make_folder,
    progress_line,
    read_files,
    read_given_source,
    report,
    report_file,
    report_output_code,
)
from explorer.errors import NoDevice
from explorer.model import DeviceKind, Diagnostic, Progress
from explorer.model.hardware import DEFAULT_TARGET
from explorer.model.measurements import MEASURES, measures_of

if TYPE_CHECKING:  # slow to import
    from explorer.services import Services

_ASK_AGAIN_SECONDS = 0.1
_TABLES = ("sweep", "autotuning")
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True)
class _Outcome:
    """The status and the diagnostics of a run, or of a compilation that failed before it.

    `compilation` is the index of the compilation. `printed` is for the standard output, `files` for the
    folder.
    """

    status: str
    diagnostics: list[dict[str, Any]]
    compilation: dict[str, Any]
    printed: bytes = b""
    files: dict[str, bytes] | None = None


def add(commands: Commands) -> None:
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
    if options.output:
        make_folder(options.output)
    body = {
        "source": read_given_source(options.file),
        "triton": options.triton,
        "kernel": options.kernel,
        "launch": options.launch,
        "config": options.config,
        **read_files(options),
    }

    def question(api: Api) -> _Outcome:
        devices = api.health()["devices"]
        device: DeviceKind = options.device or ("gpu" if devices["gpu"]["available"] else "interpreter")
        _check_measures(options, device, devices["gpu"]["reason"])
        own_target = devices["gpu"]["target"] if device == "gpu" else None
        target = options.target or own_target or DEFAULT_TARGET
        _, compilation = compile_kernel(api, {**body, "target": target})
        if compilation["status"] == "failed" and device == "gpu":
            return _Outcome(compilation["status"], compilation["diagnostics"], compilation)
        address = _run_kernel(api, compilation["id"], _fields(options, device))
        return _outcome(api, address, options, compilation)

    def can_do(health: dict[str, Any]) -> bool:
        devices = health["devices"]
        if options.device:
            return bool(devices[options.device]["available"])
        return bool(devices["gpu"]["available"]) or not _has_gpu()

    def prepare(services: Services) -> None:
        if options.device != "interpreter":  # The sandbox of the GPU starts while the kernel is compiled.
            threading.Thread(target=services.warm_up_gpus, daemon=True).start()

    outcome = ask(options, question, can_do=can_do, prepare=prepare)
    if outcome.files is not None:
        for name, data in outcome.files.items():
            path = options.output / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        report_file(options.output)
    sys.stdout.buffer.write(outcome.printed)
    sys.stdout.flush()
    diagnostics = [Diagnostic(**each) for each in outcome.diagnostics]
    compilation = outcome.compilation
    status = report(outcome.status, diagnostics, options, lines_of(compilation["request"]))
    report_output_code(body, compilation, options)
    return status


def _fields(options: argparse.Namespace, device: DeviceKind) -> dict[str, Any]:
    """Return the fields of the run for the API."""
    return {
        "device": device,
        "measures": options.measure or ["check", "counts" if device == "interpreter" else "time"],
        "sizes": dict(options.size),
        "is_benchmark": options.benchmark,
        "repeats": options.repeats,
        "seed": options.seed,
    }


def _run_kernel(api: Api, compilation: str, fields: dict[str, Any]) -> str:
    """Run the kernel of a compilation and wait for the end; show the progress. Return the run's address.

    If a server has an equal run, the kernel is still measured: the run becomes a new attempt.
    """
    known = api.document(f"{API}/compilations/{compilation}/runs")["runs"]
    attempt = max((each["run"]["attempt"] for each in known), default=-1) + 1
    return wait_for_run(api, {"compilation": compilation, "run": {**fields, "attempt": attempt}})


def wait_for_run(api: Api, body: dict[str, Any]) -> str:
    """Start a run, or find an equal one, and wait for its end; show the progress. Return its address.

    If the user interrupts the wait, the run is canceled.
    """
    address: str = api.post(f"{API}/runs", body)["api"]
    with progress_line() as show:
        try:
            while (document := api.document(address))["status"] in ("queued", "running"):
                if document["queue_position"]:
                    show(f"waiting, number {document['queue_position']} in the queue")
                elif document["progress"]:
                    show(format_progress(Progress(**document["progress"])))
                time.sleep(_ASK_AGAIN_SECONDS)
        except KeyboardInterrupt:
            api.delete(address)
            raise
    return address


def _outcome(api: Api, address: str, options: argparse.Namespace, compilation: dict[str, Any]) -> _Outcome:
    """Return a finished run in the form that the options select. `compilation` is that of its kernel."""
    encoded = api.get(f"{address}?links=files")
    document = msgspec.json.decode(encoded)
    printed, files = b"", None
    if options.output:
        files = dict(_files(api, address, encoded))
    elif options.json:
        measured = {
            each["name"]: msgspec.Raw(api.get(_measurement(address, each["name"])))
            for each in document["measurements"]
        }
        whole = {"request": compilation["request"], "run": msgspec.Raw(encoded), "measured": measured}
        printed = msgspec.json.encode(whole) + b"\n"
    else:
        printed = api.get(f"{address}/summary")
    return _Outcome(document["status"], document["diagnostics"], compilation, printed, files)


def _files(api: Api, address: str, encoded: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a run: its document, its measurements, tables, and the profilers' own files."""
    yield "run.json", msgspec.json.format(encoded, indent=2) + b"\n"
    names = [each["name"] for each in msgspec.json.decode(encoded)["measurements"]]
    for name in filter(_FILE_NAME.fullmatch, names):
        yield f"measurements/{name}.json", api.get(_measurement(address, name))
    for name in _TABLES:
        if name in names:
            yield f"{name}.csv", api.get(f"{address}/{name}.csv")
    for file in api.document(f"{address}/files")["files"]:
        if _FILE_NAME.fullmatch(file["name"]):  # user code has chosen the name
            yield f"files/{file['name']}", api.get(f"{address}/files/{file['name']}")


def _measurement(address: str, name: str) -> str:
    return f"{address}/measurements/{quote(name, safe='')}"


def _has_gpu() -> bool:
    """Return whether this machine has a GPU, independent of the GPUs of a server."""
    from explorer.sandbox.nvidia import DriverError, find_gpus  # slow to import

    try:
        return bool(find_gpus())
    except DriverError:
        return False


def _check_measures(options: argparse.Namespace, device: DeviceKind, problem: str) -> None:
    """Check that the device has the measures. `problem` says why no GPU is available.

    Raises:
        NoDevice: the device lacks a measure; the message says which device has it.
    """
    for measure in options.measure or ():
        if device in MEASURES[measure].devices:
            continue
        names = ", ".join(measures_of(device))
        if device == "interpreter":
            way_out = problem or "Leave out --device."
            raise NoDevice(f"{measure} is measured on a GPU. {way_out} The interpreter has {names}.")
        raise NoDevice(
            f"{measure} is measured in the interpreter: add --device interpreter. A GPU has {names}."
        )


def _size(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    if not (name.isidentifier() and number.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=NUMBER")
    return name, int(number)
