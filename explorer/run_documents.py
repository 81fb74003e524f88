"""The documents of runs: what the API answers about them and the command line writes.

In: records of runs, recorded ones too. Out: structures that become JSON as they are.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal, Protocol

import msgspec

from explorer.analysis.heat import is_same_code
from explorer.documents import MeasurementDocument, log_documents
from explorer.measurements import Check, Environment, Samples
from explorer.model import Diagnostic, Log, Progress, Run
from explorer.recordings import Match, Recording
from explorer.store import Record, Status

#: Whether the code that ran is what was compiled.
BinaryMatch = Literal["same", "other", "unknown"]

#: Longer machine code is not compared instruction by instruction.
_MOST_SASS_BYTES = 4_000_000


class Links(Protocol):
    """Where runs are: addresses in the API, files in a folder."""

    def run(self, run_id: str) -> str: ...

    def measurement(self, run_id: str, name: str) -> str: ...


class RecordedDocument(msgspec.Struct, frozen=True):
    """Where and how a recorded run was made."""

    example: str
    gpu: str
    driver: str
    triton: str
    torch: str
    command: str
    date: datetime

    @classmethod
    def of(cls, recording: Recording) -> RecordedDocument:
        environment = recording.environment
        return cls(
            recording.example,
            environment.gpu if environment else "",
            environment.driver if environment else "",
            recording.request.triton,
            environment.torch if environment else "",
            recording.command,
            recording.date,
        )


class RunRow(msgspec.Struct, frozen=True):
    """A run among those of a compilation; `api` has all of it.

    `matches` says whether its result is that of the reference (None: they were not compared), `problem` the
    first error that was told of it, "" if none was, `match` how close a recorded one comes. `queue_position`
    counts the jobs that are done before this one, itself counted, while it waits.
    """

    id: str
    api: str
    status: Status
    created: datetime
    config: int | None
    run: Run
    progress: Progress | None
    queue_position: int | None
    measurements: list[MeasurementDocument]
    matches: bool | None
    problem: str
    gpu: str
    recorded: RecordedDocument | None
    match: Match | None
    binary: BinaryMatch


class RunDocument(RunRow, frozen=True):
    """A run: its row, and all else but what was measured.

    `compilation` is the id of what compiles the same; a recorded run has none of its own.
    """

    milliseconds: float | None
    compilation: str | None
    kernel: str | None
    target: str
    triton: str
    launch: int | None
    diagnostics: list[Diagnostic]
    log: list[Log]


class DeviceDocument(msgspec.Struct, frozen=True):
    """Whether kernels can be run on it here, and why not."""

    available: bool
    reason: str


class GpusDocument(msgspec.Struct, frozen=True):
    """The GPUs of this machine that kernels are run on."""

    available: bool
    reason: str
    names: list[str]


class DevicesDocument(msgspec.Struct, frozen=True):
    """What kernels can be run on here."""

    interpreter: DeviceDocument
    gpu: GpusDocument


class RunsDocument(msgspec.Struct, frozen=True):
    """The runs of a compilation, the newest first; what was recorded of its kernel, the closest first.

    `left_out` says what there is beside them, and why it is not here; "" when they are all.
    """

    runs: list[RunRow]
    recordings: list[RunRow]
    devices: DevicesDocument
    left_out: str


def devices_for(compilation: Record, devices: DevicesDocument) -> DevicesDocument:
    """What there is of `devices` for the kernel of a compilation: the interpreter does not know Gluon."""
    specialized = compilation.result.specialized
    if specialized is None or specialized.language != "gluon" or not devices.interpreter.available:
        return devices
    reason = "The kernel is written in Gluon, which Triton's interpreter does not run: it needs a GPU."
    return msgspec.structs.replace(devices, interpreter=DeviceDocument(False, reason))


def run_row(
    record: Record,
    links: Links,
    compilation: Record | None,
    position: int | None = None,
    recording: Recording | None = None,
) -> RunRow:
    """A run in a list; `compilation` is what its binary and a recording are compared with."""
    environment = environment_of(record)
    return RunRow(
        id=record.id,
        api=links.run(record.id),
        status=record.status,
        created=record.created,
        config=record.request.config,
        run=run_of(record),
        progress=_progress(record),
        queue_position=position,
        measurements=_measurements(record, links),
        matches=_matches(record),
        problem=_problem(record),
        gpu=environment.gpu if environment else "",
        recorded=RecordedDocument.of(recording) if recording else None,
        match=recording.match(compilation) if recording and compilation else None,
        binary=binary_match(record, compilation),
    )


def run_document(
    record: Record,
    links: Links,
    compilation: Record | None,
    position: int | None = None,
    recording: Recording | None = None,
) -> RunDocument:
    """A run. `compilation` is what its binary and a recording are compared with."""
    result, request = record.result, record.request
    return RunDocument(
        **msgspec.structs.asdict(run_row(record, links, compilation, position, recording)),
        milliseconds=result.done.milliseconds if result.done and not recording else None,
        compilation=compilation.id if compilation else None,
        kernel=record.kernel or (compilation.kernel if compilation else None),
        target=request.target,
        triton=request.triton,
        launch=request.launch,
        diagnostics=result.diagnostics,
        log=log_documents(result.logs),
    )


def run_of(record: Record) -> Run:
    """How the kernel of a run was run."""
    run = record.request.run
    assert run is not None
    return run


def environment_of(record: Record) -> Environment | None:
    """What a run was measured on; None as long as it has not said so."""
    return record.measured("environment", Environment)


def binary_match(run: Record, compilation: Record | None) -> BinaryMatch:
    """Compare what ran with what was compiled: byte for byte, otherwise by the sampled instructions.

    The address of a blob is its SHA-256.
    """
    environment = environment_of(run)
    compiled = compilation.result.binary if compilation else None
    if environment is None or not environment.binary_sha256 or compilation is None or compiled is None:
        return "unknown"
    if environment.binary_sha256 == compiled.data:
        return "same"
    sass = compilation.result.stages.get("sass")
    samples = run.measured("samples", Samples)
    if samples is None or sass is None or sass.bytes > _MOST_SASS_BYTES:
        return "other"
    is_same = is_same_code(samples, compilation.kernel or "", compilation.text(sass.text))
    return "same" if is_same else "other"


def _measurements(record: Record, links: Links) -> list[MeasurementDocument]:
    names = record.result.measurements
    return [MeasurementDocument(name, links.measurement(record.id, name)) for name in names]


def _matches(record: Record) -> bool | None:
    check = record.measured("check", Check)
    return all(output.matches for output in check.outputs) if check and check.outputs else None


def _problem(record: Record) -> str:
    errors = (each.message for each in record.result.diagnostics if each.severity == "error")
    return next(errors, "")


def _progress(record: Record) -> Progress | None:
    return None if record.is_finished else record.result.progress
