"""The query for the shared memory of a kernel with fewer pipeline stages, which compiles the kernel."""

from __future__ import annotations

import dataclasses

import msgspec

from explorer.errors import NotAnswerable
from explorer.model.hardware import find_target
from explorer.queries.query import Query, Subject, nothing_saved

_MOST_COMPILES = 4


class StagesRow(msgspec.Struct, frozen=True):
    """A compilation with `num_stages`; its page is `/k/<id>`. `shared_bytes` is None if it failed."""

    num_stages: int
    id: str
    shared_bytes: int | None
    fits: bool


class FewerStagesDocument(msgspec.Struct, frozen=True):
    """A row for the requested number of stages, and for each smaller number up to the first that fits."""

    shared_limit_bytes: int
    rows: list[StagesRow]


def _find(subject: Subject) -> FewerStagesDocument:
    record = subject.record
    specialized = record.result.specialized
    stages = specialized.options.get("num_stages") if specialized else None
    if not isinstance(stages, int) or isinstance(stages, bool):
        raise NotAnswerable("The number of pipeline stages of this compilation is unknown.")
    limit_bytes = find_target(record.request.target).device.multiprocessor.shared_bytes_per_block
    rows: list[StagesRow] = []
    for count in range(stages, max(stages - _MOST_COMPILES, 1) - 1, -1):
        other = (
            record
            if count == stages
            else subject.compiler.complete(
                dataclasses.replace(record.request, options={**record.request.options, "num_stages": count})
            )
        )
        resources = other.result.resources
        needed = resources.shared_bytes if resources else None
        fits = needed is not None and needed <= limit_bytes
        rows.append(StagesRow(count, other.id, needed, fits))
        if fits and count < stages:
            break
    return FewerStagesDocument(limit_bytes, rows)


QUERY = Query(
    name="fewer_stages",
    summary="The shared memory that the kernel needs with fewer pipeline stages, by compiling it.",
    version=1,
    document=FewerStagesDocument,
    find=_find,
    submits=True,
    saved=nothing_saved,
)
