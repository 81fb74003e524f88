"""The documents of targets, compilations and inspections."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from explorer.documents.alternatives import Alternative, alternatives_to
from explorer.documents.links import Links
from explorer.documents.parts import (
    BinaryDocument,
    Changes,
    PassDocument,
    ResourcesDocument,
    StageDocument,
    log_documents,
)
from explorer.model import (
    Argument,
    AssumedNumber,
    Diagnostic,
    Edits,
    Inspection,
    Kernel,
    Launch,
    Log,
    OutputCode,
    Request,
    Scalar,
    Specialized,
)
from explorer.model.hardware import Target, find_target
from explorer.model.source_lines import SourceFile
from explorer.pipeline.stages import stages_of
from explorer.store import Record, Status


class TargetDocument(msgspec.Struct, frozen=True):
    """A GPU to compile for, and the names of its stages in order."""

    name: str
    title: str
    architecture: str
    vendor: str
    stages: tuple[str, ...]

    @classmethod
    def of(cls, target: Target) -> TargetDocument:
        return cls(target.name, target.title, target.architecture, target.vendor, stages_of(target.backend))


class RequestDocument(msgspec.Struct, frozen=True):
    """The request of a compilation. `private` is its key, with which other clients join it."""

    source: str
    target: str
    triton: str
    kernel: str | None
    launch: int | None
    arguments: tuple[Argument, ...] | str | None
    config: int | None
    options: dict[str, Scalar]
    constants: dict[str, Scalar]
    path: str
    files: dict[str, str]
    assumed: dict[str, int]
    script_arguments: str
    edits: Edits | None
    private: str

    @classmethod
    def of(cls, request: Request) -> RequestDocument:
        return msgspec.convert(request, cls, from_attributes=True)


class CompilationDocument(msgspec.Struct, frozen=True):
    """The index of a compilation: everything but the texts.

    `queue_position` is the position of a waiting compilation in its queue, from 1 on. `waits_for` says what
    keeps all workers from the job, or is "". `running_seconds` says how long a running compilation has run.
    `output_code` has the kernels of a script that defines no kernel and calls a function returned by
    `torch.compile`. A result with the status "kernels_found" has nothing else: the program itself is not
    compiled.
    `alternatives` may help a failed compilation. A file has none: nothing can be compiled there.
    Lines of the source are numbered through all its files: `source_files` has the numbers of each.
    """

    id: str
    url: str
    status: Status
    queue_position: int | None
    waits_for: str
    running_seconds: float | None
    created: datetime
    milliseconds: float | None
    triton: str
    target: TargetDocument
    request: RequestDocument
    source_files: list[SourceFile]
    kernel: str | None
    kernel_line: int | None
    language: str | None
    specialization: Specialized | None
    kernels: tuple[Kernel, ...]
    launches: tuple[Launch, ...]
    assumed: tuple[AssumedNumber, ...]
    output_code: OutputCode | None
    stages: list[StageDocument]
    passes: list[PassDocument]
    resources: ResourcesDocument | None
    binary: BinaryDocument | None
    diagnostics: list[Diagnostic]
    logs: list[Log]
    alternatives: tuple[Alternative, ...]

    @classmethod
    def of(
        cls,
        record: Record,
        links: Links,
        changes: Changes,
        versions: Sequence[str] = (),
        position: int | None = None,
        waits_for: str = "",
    ) -> CompilationDocument:
        result, request = record.result, record.request
        specialized = result.specialized
        inspection = result.inspection or Inspection((), ())
        return cls(
            id=record.id,
            url=links.page,
            status=record.status,
            queue_position=position,
            waits_for=waits_for,
            running_seconds=record.running_seconds,
            created=record.created,
            milliseconds=result.done.milliseconds if result.done else None,
            triton=request.triton,
            target=TargetDocument.of(find_target(request.target)),
            request=RequestDocument.of(request),
            source_files=record.source_numbers.files,
            kernel=record.kernel,
            kernel_line=specialized.line if specialized else None,
            language=specialized.language if specialized else None,
            specialization=specialized,
            kernels=inspection.kernels,
            launches=inspection.launches,
            assumed=inspection.assumed,
            output_code=inspection.output_code,
            stages=[StageDocument.of(stage, links) for stage in result.stages.values()],
            passes=[PassDocument.of(result.passes[index], links, changes) for index in sorted(result.passes)],
            resources=ResourcesDocument.of(result.resources, request.target) if result.resources else None,
            binary=BinaryDocument.of(result.binary, links) if result.binary else None,
            diagnostics=result.diagnostics,
            logs=log_documents(result.logs),
            alternatives=alternatives_to(record, versions) if versions else (),
        )


class InspectionDocument(msgspec.Struct, frozen=True):
    """The kernels of a source, the launches that it makes, and diagnostics.

    Lines of the source are numbered through all its files: `source_files` has the numbers of each.
    """

    source_files: list[SourceFile]
    kernels: tuple[Kernel, ...]
    launches: tuple[Launch, ...]
    assumed: tuple[AssumedNumber, ...]
    output_code: OutputCode | None
    diagnostics: list[Diagnostic]
    logs: list[Log]

    @classmethod
    def of(cls, record: Record) -> InspectionDocument:
        result = record.result
        found = result.inspection or Inspection((), ())
        return cls(
            record.source_numbers.files,
            found.kernels,
            found.launches,
            found.assumed,
            found.output_code,
            result.diagnostics,
            log_documents(result.logs),
        )
