"""The documents of the public interface: what the API answers and the command line writes.

In: records. Out: structures that become JSON as they are; absent things are null or empty, never missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

import msgspec

from explorer.analysis.occupancy import occupancy
from explorer.model import (
    Allocation,
    Answer,
    Argument,
    Diagnostic,
    Done,
    Inspection,
    Kernel,
    Launch,
    Log,
    Progress,
    Request,
    Resources,
    Scalar,
    Specialized,
)
from explorer.pipeline.targets import Target, find_target
from explorer.store import BinaryEntry, Entry, MeasurementEntry, PassEntry, Record, StageEntry, Status

#: Lines that passes have added and removed, by their index.
Changes = Mapping[int, tuple[int, int]]


class Links(Protocol):
    """Where the parts of a compilation are: addresses in the API, files in a folder."""

    @property
    def page(self) -> str: ...

    def stage(self, stage: StageEntry) -> str: ...

    def compiler_pass(self, index: int) -> str: ...

    def binary(self, binary: BinaryEntry) -> str: ...

    def measurement(self, name: str) -> str: ...


class TargetDocument(msgspec.Struct, frozen=True):
    """A GPU to compile for, and the names of the stages on the way to it."""

    name: str
    title: str
    architecture: str
    vendor: str
    stages: tuple[str, ...]

    @classmethod
    def of(cls, target: Target) -> TargetDocument:
        return cls(target.name, target.title, target.architecture, target.vendor, target.stages)


class RequestDocument(msgspec.Struct, frozen=True):
    """The request, as it decides the answer."""

    source: str
    target: str
    triton: str
    kernel: str | None
    launch: int | None
    arguments: tuple[Argument, ...] | str | None
    config: int | None
    options: dict[str, Scalar]

    @classmethod
    def of(cls, request: Request) -> RequestDocument:
        return msgspec.convert(request, cls, from_attributes=True)


class StageDocument(msgspec.Struct, frozen=True):
    """A stage; `url` has its text."""

    name: str
    title: str
    language: str
    lines: int
    bytes: int
    milliseconds: float
    url: str

    @classmethod
    def of(cls, stage: StageEntry, links: Links) -> StageDocument:
        return cls(
            stage.name,
            stage.title,
            stage.language,
            stage.lines,
            stage.bytes,
            stage.milliseconds,
            links.stage(stage),
        )


class PassDocument(msgspec.Struct, frozen=True):
    """A compiler pass; `url` has the text after it. Changed lines are null until they are counted.

    `failed`: the compilation ended in it.
    """

    index: int
    stage: str
    name: str
    title: str
    options: tuple[Scalar, ...]
    changed: bool
    failed: bool
    milliseconds: float
    lines_added: int | None
    lines_removed: int | None
    url: str

    @classmethod
    def of(cls, entry: PassEntry, links: Links, changes: Changes) -> PassDocument:
        added, removed = changes.get(entry.index, (None, None))
        return cls(
            entry.index,
            entry.stage,
            entry.name,
            entry.title,
            entry.options,
            entry.changed,
            entry.failed,
            entry.milliseconds,
            added,
            removed,
            links.compiler_pass(entry.index),
        )


class ResourcesDocument(msgspec.Struct, frozen=True):
    """What the binary needs, as the tools say, and how many warps of it fit on a multiprocessor.

    `occupancy` is resident warps by possible warps, 0 to 1; `limiter` names what stops it from being more.
    `shared_limit_bytes` is the most shared memory that one block can have on the target.
    """

    registers: int | None
    scalar_registers: int | None
    spill_stores_bytes: int | None
    spill_loads_bytes: int | None
    stack_bytes: int | None
    shared_bytes: int | None
    tensor_memory_columns: int | None
    global_scratch_bytes: int | None
    constant_bytes: int | None
    barriers: int | None
    warps: int | None
    threads: int | None
    shared_limit_bytes: int
    occupancy: float | None
    limiter: str | None

    @classmethod
    def of(cls, resources: Resources, target: str) -> ResourcesDocument:
        needs = (resources.threads, resources.registers, resources.shared_bytes)
        fitting = None if None in needs else occupancy(target, *(need or 0 for need in needs))
        return cls(
            **vars(resources),
            shared_limit_bytes=find_target(target).device.multiprocessor.shared_bytes_per_block,
            occupancy=fitting.share if fitting else None,
            limiter=fitting.limiter if fitting else None,
        )


class BinaryDocument(msgspec.Struct, frozen=True):
    """The binary that a launch would load; `url` has it."""

    name: str
    bytes: int
    url: str

    @classmethod
    def of(cls, binary: BinaryEntry, links: Links) -> BinaryDocument:
        return cls(binary.name, binary.bytes, links.binary(binary))


class MeasurementDocument(msgspec.Struct, frozen=True):
    """Something that a run has measured; `url` has it."""

    name: str
    url: str


class CompilationDocument(msgspec.Struct, frozen=True):
    """The index of a compilation: everything but the texts."""

    id: str
    url: str
    status: Status
    created: datetime
    milliseconds: float | None
    triton: str
    target: TargetDocument
    request: RequestDocument
    kernel: str | None
    kernel_line: int | None
    language: str | None
    specialization: Specialized | None
    kernels: tuple[Kernel, ...]
    launches: tuple[Launch, ...]
    stages: list[StageDocument]
    passes: list[PassDocument]
    resources: ResourcesDocument | None
    binary: BinaryDocument | None
    diagnostics: list[Diagnostic]
    logs: list[Log]

    @classmethod
    def of(cls, record: Record, links: Links, changes: Changes) -> CompilationDocument:
        result, request = record.result, record.request
        specialized = result.specialized
        inspection = result.inspection or Inspection((), ())
        return cls(
            id=record.id,
            url=links.page,
            status=record.status,
            created=record.created,
            milliseconds=result.done.milliseconds if result.done else None,
            triton=request.triton,
            target=TargetDocument.of(find_target(request.target)),
            request=RequestDocument.of(request),
            kernel=record.kernel,
            kernel_line=specialized.line if specialized else None,
            language=specialized.language if specialized else None,
            specialization=specialized,
            kernels=inspection.kernels,
            launches=inspection.launches,
            stages=[StageDocument.of(stage, links) for stage in result.stages.values()],
            passes=[PassDocument.of(result.passes[index], links, changes) for index in sorted(result.passes)],
            resources=ResourcesDocument.of(result.resources, request.target) if result.resources else None,
            binary=BinaryDocument.of(result.binary, links) if result.binary else None,
            diagnostics=result.diagnostics,
            logs=log_documents(result.logs),
        )


class InspectionDocument(msgspec.Struct, frozen=True):
    """The kernels of a source, the launches that running it makes, and what went wrong."""

    kernels: tuple[Kernel, ...]
    launches: tuple[Launch, ...]
    diagnostics: list[Diagnostic]
    logs: list[Log]

    @classmethod
    def of(cls, record: Record) -> InspectionDocument:
        result = record.result
        found = result.inspection or Inspection((), ())
        return cls(found.kernels, found.launches, result.diagnostics, log_documents(result.logs))


def log_documents(logs: Mapping[str, list[str]]) -> list[Log]:
    """The logs of a result, one document a source."""
    return [Log(source, "".join(texts)) for source, texts in logs.items()]


EventDocument = (
    Inspection
    | Specialized
    | StageDocument
    | PassDocument
    | ResourcesDocument
    | BinaryDocument
    | Allocation
    | Answer
    | MeasurementDocument
    | Progress
    | Diagnostic
    | Log
    | Done
)


def event_document(entry: Entry, target: str, links: Links) -> EventDocument:
    """What a listener is told about an entry: the same rows as in the index."""
    match entry:
        case StageEntry():
            return StageDocument.of(entry, links)
        case PassEntry():
            return PassDocument.of(entry, links, {})
        case Resources():
            return ResourcesDocument.of(entry, target)
        case BinaryEntry():
            return BinaryDocument.of(entry, links)
        case MeasurementEntry():
            return MeasurementDocument(entry.name, links.measurement(entry.name))
        case _:
            return entry
