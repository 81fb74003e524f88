"""The documents of runs that the API returns and the command line writes.

In: records of runs, also of profiles. Out: structures that are encoded as JSON.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal, Protocol

import msgspec

from explorer.analysis.assembly.heat import is_same_code
from explorer.documents import MeasurementDocument, log_documents
from explorer.model import Diagnostic, Log, Progress, Run
from explorer.model.measurements import Check, Environment, Samples
from explorer.profiles.read import Match, Profile
from explorer.store import Record, Status

#: Whether the binary that ran is the compiled binary.
BinaryMatch = Literal["same", "other", "unknown"]

#: Longer SASS is not compared instruction by instruction.
_MOST_SASS_BYTES = 4_000_000


class Links(Protocol):
    """The places of runs: addresses in the API, or files in a folder."""

    def run(self, run_id: str) -> str: ...

    def measurement(self, run_id: str, name: str) -> str: ...


class RecordedDocument(msgspec.Struct, frozen=True):
    """Where, when and how a profile was recorded."""

    example: str
    gpu: str
    driver: str
    triton: str
    torch: str
    command: str
    date: datetime

    @classmethod
    def of(cls, profile: Profile) -> RecordedDocument:
        environment = profile.environment
        return cls(
            profile.example,
            environment.gpu if environment else "",
            environment.driver if environment else "",
            profile.request.triton,
            environment.torch if environment else "",
            profile.command,
            profile.date,
        )


class RunRow(msgspec.Struct, frozen=True):
    """A run in a list; `api` is the address of its document.

    `matches`: whether its result is the result of the reference (null: not compared). `problem` is its first
    error, or "". `match`: how a profile matches the compilation. `queue_position`: the position of a waiting
    run in its queue, from 1 on. `imported`: another machine has measured it.
    """

    id: str
    api: str
    status: Status
    created: datetime
    config: int | None
    run: Run
    imported: bool
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
    """A run: its row, and everything else but the measurements.

    `compilation` is the ID of the compilation of its kernel, or else of the compilation that the request
    names. It is null if neither is stored; a profile has none of its own. `not_compared` says why the check
    can compare nothing, for any result of the kernel; "": it compares, or it was not reached, as `problem`
    says.
    """

    milliseconds: float | None
    compilation: str | None
    kernel: str | None
    not_compared: str
    target: str
    triton: str
    launch: int | None
    diagnostics: list[Diagnostic]
    log: list[Log]


class DeviceDocument(msgspec.Struct, frozen=True):
    """Whether kernels can be run on a device of this machine, and why not."""

    available: bool
    reason: str


class GpusDocument(DeviceDocument, frozen=True):
    """The GPUs of this machine, whether kernels can be run on them, and why not.

    `target` is the target of the first GPU.
    """

    names: list[str]
    target: str | None


class DevicesDocument(msgspec.Struct, frozen=True):
    """The devices of this machine that kernels can be run on."""

    interpreter: DeviceDocument
    gpu: GpusDocument


class RunsDocument(msgspec.Struct, frozen=True):
    """The runs of a compilation, newest first, and the profiles of its kernel, closest first.

    `imported` are runs that were sent from other machines. The server cannot know whether they are true.

    `left_out` names the runs that are not listed, and the reason; "" if all are listed.
    """

    runs: list[RunRow]
    imported: list[RunRow]
    recordings: list[RunRow]
    devices: DevicesDocument
    left_out: str


def devices_for(compilation: Record, devices: DevicesDocument) -> DevicesDocument:
    """Return the devices for the kernel of a compilation: the interpreter cannot run Gluon."""
    specialized = compilation.result.specialized
    if specialized is None or specialized.language != "gluon" or not devices.interpreter.available:
        return devices
    reason = "The kernel is written in Gluon, which Triton's interpreter cannot run. Use a GPU."
    return msgspec.structs.replace(devices, interpreter=DeviceDocument(False, reason))


def run_row(
    record: Record,
    links: Links,
    compilation: Record | None,
    position: int | None = None,
    profile: Profile | None = None,
) -> RunRow:
    """Return the row of a run. Its binary and profile are compared with `compilation`."""
    environment = environment_of(record)
    return RunRow(
        id=record.id,
        api=links.run(record.id),
        status=record.status,
        created=record.created,
        config=record.request.config,
        run=run_of(record),
        imported=bool(record.request.imported),
        progress=_progress(record),
        queue_position=position,
        measurements=_measurements(record, links),
        matches=_matches(record),
        problem=_problem(record),
        gpu=environment.gpu if environment else "",
        recorded=RecordedDocument.of(profile) if profile else None,
        match=profile.match(compilation) if profile and compilation else None,
        binary=binary_match(record, compilation),
    )


def run_document(
    record: Record,
    links: Links,
    compilation: Record | None,
    position: int | None = None,
    profile: Profile | None = None,
) -> RunDocument:
    """Return the document of a run. Its binary and profile are compared with `compilation`."""
    result, request = record.result, record.request
    return RunDocument(
        **msgspec.structs.asdict(run_row(record, links, compilation, position, profile)),
        milliseconds=result.done.milliseconds if result.done and not profile else None,
        compilation=compilation.id if compilation else None,
        kernel=record.kernel or (compilation.kernel if compilation else None),
        not_compared=_not_compared(record),
        target=request.target,
        triton=request.triton,
        launch=request.launch,
        diagnostics=result.diagnostics,
        log=log_documents(result.logs),
    )


def run_of(record: Record) -> Run:
    """Return how the kernel of a run is run."""
    run = record.request.run
    assert run is not None
    return run


def environment_of(record: Record) -> Environment | None:
    """Return the machine that a run was measured on, or None if it is not known yet."""
    return record.measured("environment", Environment)


def binary_match(run: Record, compilation: Record | None) -> BinaryMatch:
    """Compare the binary that ran with the compiled binary: by SHA-256, else by the sampled instructions."""
    environment = environment_of(run)
    compiled = compilation.result.binary if compilation else None
    if environment is None or not environment.binary_sha256 or compilation is None or compiled is None:
        return "unknown"
    if environment.binary_sha256 == compiled.data:  # the address of a blob is its SHA-256
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


def _not_compared(record: Record) -> str:
    check = record.measured("check", Check)
    return check.reason if check else ""


def _problem(record: Record) -> str:
    return next(iter(record.result.error_messages), "")


def _progress(record: Record) -> Progress | None:
    return None if record.is_finished else record.result.progress
