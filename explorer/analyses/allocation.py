"""Shared memory as the compiler has allocated it: buffers, their places and their times."""

from __future__ import annotations

import msgspec

from explorer.analyses.analysis import Analysis, Subject
from explorer.errors import NotAnswerable
from explorer.model import Allocation
from explorer.pipeline.targets import find_target


class AllocationDocument(msgspec.Struct, frozen=True):
    """The buffers of each function, the bytes they take together, and the most that a block can have."""

    functions: list[Allocation]
    shared_bytes: int
    shared_limit_bytes: int


def _find(subject: Subject) -> AllocationDocument:
    record = subject.record
    functions = record.result.allocations
    if not functions:
        raise NotAnswerable("The compilation stopped before shared memory was allocated.")
    return AllocationDocument(
        functions,
        max(function.shared_bytes for function in functions),
        find_target(record.request.target).device.multiprocessor.shared_bytes_per_block,
    )


ANALYSIS = Analysis(
    name="allocation",
    summary="The buffers in shared memory: where each lies, and from when to when.",
    version=1,
    document=AllocationDocument,
    find=_find,
)
