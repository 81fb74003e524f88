"""The query for the allocation of shared memory: buffers, addresses, lifetimes, and barriers."""

from __future__ import annotations

import msgspec

from explorer.analysis.memory.memory_map import map_functions
from explorer.analysis.memory.memory_map_types import FunctionMap
from explorer.analysis.memory.tensor_memory import TensorMemoryMap, map_tensor_memory
from explorer.analysis.occupancy.steps import OccupancyStep, shared_memory_steps
from explorer.analysis.pass_roles import has_role
from explorer.errors import NotAnswerable
from explorer.model.hardware import find_target
from explorer.queries.query import Query, Subject
from explorer.store import Record


class AllocationDocument(msgspec.Struct, frozen=True):
    """The memory of each function, the bytes that a block needs, and the limit of a block.

    `steps` are the sizes at which fewer blocks fit on a multiprocessor, with the registers and warps of this
    kernel; none if these are unknown. `source` names the origin of the allocation.
    """

    functions: list[FunctionMap]
    tensor_memory: list[TensorMemoryMap]
    shared_bytes: int
    shared_limit_bytes: int
    steps: tuple[OccupancyStep, ...]
    source: str


def _find(subject: Subject) -> AllocationDocument:
    record = subject.record
    allocations = record.result.allocations
    if not allocations:
        raise NotAnswerable(_without_report(record))
    lowered = _last_before_llvm(record)
    index = allocations[0].pass_index
    limit_bytes = find_target(record.request.target).device.multiprocessor.shared_bytes_per_block
    return AllocationDocument(
        map_functions(
            allocations,
            record.text_after_pass(index),
            record.text_after_pass(lowered),
            has_barriers=_inserts_barriers(record, lowered),
        ),
        map_tensor_memory(_with_tensor_memory(record, lowered), allocations[0].source_lines),
        max(function.shared_bytes for function in allocations),
        limit_bytes,
        _steps(record, limit_bytes),
        f"Triton {record.request.triton}: its allocation analysis, and the module after it",
    )


def _without_report(record: Record) -> str:
    """Explain why there is no allocation: an earlier failure, or no report of the compiler."""
    passes = record.result.passes.values()
    allocating = next((each for each in passes if has_role(each.name, "allocate shared memory")), None)
    if allocating is None or allocating.failed:
        return "The result has no allocation of shared memory. See its messages."
    return (
        f"The compiler's report of the allocation is missing or truncated, though {allocating.name} has run. "
        f"Compile again. The Passes pane shows the module after pass {allocating.index}, with all offsets."
    )


def barrier_pass(record: Record) -> int | None:
    """Return the pass that inserts the barriers; None if the lowering to LLVM does."""
    return next(
        (i for i, each in record.result.passes.items() if has_role(each.name, "insert barriers")), None
    )


def _last_before_llvm(record: Record) -> int:
    """Return the last pass whose module still has operations on buffers."""
    indices = sorted(record.result.passes)
    first = next((i for i in indices if has_role(record.result.passes[i].name, "lower to LLVM")), None)
    return max((i for i in indices if first is None or i < first), default=0)


def _inserts_barriers(record: Record, last: int) -> bool:
    passes = record.result.passes.items()
    return any(has_role(each.name, "insert barriers") and index <= last for index, each in passes)


def _with_tensor_memory(record: Record, last: int) -> str:
    """Return the module after the allocation of tensor memory; "" if no pass does that.

    It follows the pass whose lines are known, and only adds attributes.
    """
    for index in sorted(record.result.passes):
        if index <= last and has_role(record.result.passes[index].name, "allocate tensor memory"):
            return record.text_after_pass(index)
    return ""


def _steps(record: Record, limit_bytes: int) -> tuple[OccupancyStep, ...]:
    resources = record.result.resources
    if resources is None or resources.registers is None or not resources.threads:
        return ()
    return shared_memory_steps(record.request.target, resources.threads, resources.registers, limit_bytes)


QUERY = Query(
    name="allocation",
    summary="The buffers in shared memory: their addresses and lifetimes, and the barriers.",
    version=7,
    document=AllocationDocument,
    find=_find,
)
