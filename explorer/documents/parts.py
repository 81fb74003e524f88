"""The documents of the parts of a result: stages, passes, resources, binary, measurements, logs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

import msgspec

from explorer.analysis.occupancy.theoretical import occupancy_of
from explorer.documents.links import Links
from explorer.model import Log, Resources, Scalar
from explorer.model.hardware import find_target
from explorer.store import BinaryEntry, PassEntry, StageEntry


class ChangeCounts(msgspec.Struct, frozen=True):
    """How many lines and operations a pass added and removed, and how many operations it only moved.

    A line whose operation only moved counts as added and as removed.
    """

    lines_added: int
    lines_removed: int
    operations_added: int
    operations_removed: int
    operations_moved: int


#: What passes have changed, by the index of the pass.
Changes = Mapping[int, ChangeCounts]


class StageDocument(msgspec.Struct, frozen=True):
    """A stage; `url` is the address of its text."""

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
    """A compiler pass; `url` is the address of the snapshot after it.

    `failed`: the compilation ended in this pass. `omitted` says why the module after it is not known; "": it
    is. The numbers of lines and operations are null until they are counted.
    """

    index: int
    stage: str
    name: str
    title: str
    options: tuple[Scalar, ...]
    changed: bool
    omitted: str
    failed: bool
    milliseconds: float
    lines_added: int | None
    lines_removed: int | None
    operations_added: int | None
    operations_removed: int | None
    operations_moved: int | None
    url: str

    @classmethod
    def of(cls, entry: PassEntry, links: Links, changes: Changes) -> PassDocument:
        counts = changes.get(entry.index)
        return cls(
            entry.index,
            entry.stage,
            entry.name,
            entry.title,
            entry.options,
            entry.changed,
            entry.omitted,
            entry.failed,
            entry.milliseconds,
            counts.lines_added if counts else None,
            counts.lines_removed if counts else None,
            counts.operations_added if counts else None,
            counts.operations_removed if counts else None,
            counts.operations_moved if counts else None,
            links.compiler_pass(entry.index),
        )


class ResourcesDocument(msgspec.Struct, frozen=True):
    """The resources that the binary needs, as the tools report them, and its occupancy.

    `occupancy` is the ratio of resident to possible warps of a multiprocessor, 0 to 1; `limiter` names a
    resource that limits it, and `limited_by` all of them, such as "registers and shared memory".
    `shared_bytes` is null if only the binary is known: a launch chooses its dynamic shared memory, and a
    cubin has only the `static_shared_bytes`.
    `shared_limit_bytes` is the shared memory that one block can have on the target.
    """

    registers: int | None
    scalar_registers: int | None
    spill_stores_bytes: int | None
    spill_loads_bytes: int | None
    stack_bytes: int | None
    shared_bytes: int | None
    static_shared_bytes: int | None
    tensor_memory_columns: int | None
    global_scratch_bytes: int | None
    constant_bytes: int | None
    barriers: int | None
    warps: int | None
    threads: int | None
    shared_limit_bytes: int
    occupancy: float | None
    limiter: str | None
    limited_by: str | None

    @classmethod
    def of(cls, resources: Resources, target: str) -> ResourcesDocument:
        fitting = occupancy_of(resources, target)
        return cls(
            **asdict(resources),
            shared_limit_bytes=find_target(target).device.multiprocessor.shared_bytes_per_block,
            occupancy=fitting.share if fitting else None,
            limiter=fitting.limiter if fitting else None,
            limited_by=" and ".join(fitting.limiters) if fitting else None,
        )


class BinaryDocument(msgspec.Struct, frozen=True):
    """The binary that a launch loads; `url` is its address."""

    name: str
    bytes: int
    url: str

    @classmethod
    def of(cls, binary: BinaryEntry, links: Links) -> BinaryDocument:
        return cls(binary.name, binary.bytes, links.binary(binary))


class MeasurementDocument(msgspec.Struct, frozen=True):
    """A measurement of a run; `url` is its address."""

    name: str
    url: str


def log_documents(logs: Mapping[str, list[str]]) -> list[Log]:
    """Return the logs of a result, one document for each source."""
    return [Log(source, "".join(texts)) for source, texts in logs.items()]
