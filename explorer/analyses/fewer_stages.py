"""What fewer pipeline stages would do to shared memory: found out by compiling with them."""

from __future__ import annotations

import dataclasses

import msgspec

from explorer.analyses.analysis import Analysis, Subject, nothing_saved
from explorer.errors import NotAnswerable
from explorer.pipeline.targets import find_target

_MOST_COMPILES = 4


class StagesRow(msgspec.Struct, frozen=True):
    """A compilation with `num_stages`, whose page is at `/k/<id>`; None: it has failed before."""

    num_stages: int
    id: str
    shared_bytes: int | None
    fits: bool


class FewerStagesDocument(msgspec.Struct, frozen=True):
    """A row for the stages asked for, and one for each fewer, to the first that fits (five at most)."""

    shared_limit_bytes: int
    rows: list[StagesRow]


def _find(subject: Subject) -> FewerStagesDocument:
    record = subject.record
    specialized = record.result.specialized
    stages = specialized.options.get("num_stages") if specialized else None
    if not isinstance(stages, int) or isinstance(stages, bool):
        raise NotAnswerable("How many stages the kernel was compiled with is not known.")
    limit_bytes = find_target(record.request.target).device.multiprocessor.shared_bytes_per_block
    rows: list[StagesRow] = []
    for count in range(stages, max(stages - _MOST_COMPILES, 1) - 1, -1):
        other = (
            record
            if count == stages
            else subject.queue.complete(
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


ANALYSIS = Analysis(
    name="fewer_stages",
    summary="How much shared memory the kernel needs with fewer pipeline stages, by compiling it so.",
    version=1,
    document=FewerStagesDocument,
    find=_find,
    saved=nothing_saved,  # it compiles
)
