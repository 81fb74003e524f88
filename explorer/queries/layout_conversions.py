"""Conversions between layouts with their data movement and cost; accesses to shared memory with conflicts."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Literal

import msgspec

from explorer.analysis.assembly.emitted_instructions import Emitted
from explorer.analysis.layouts.conversion import ConversionCost, Movement, cost, movement
from explorer.analysis.layouts.linear_layout import LinearLayout, NoSolution
from explorer.analysis.layouts.scratch import Scratch, ScratchBuffer
from explorer.analysis.memory.bank_conflicts import shared_access
from explorer.errors import NotFound
from explorer.model.answers import Operation
from explorer.model.hardware import BANK_BYTES
from explorer.queries.emission import Emission
from explorer.queries.layout_survey import Survey
from explorer.store import Record

_TRANSPOSE_IN_THREAD = ("amdg.in_thread_transpose", "amdgpu.in_thread_transpose")
_CONVERSIONS = ("ttg.convert_layout", *_TRANSPOSE_IN_THREAD)
_SHARED_ACCESSES = ("ttg.local_load", "ttg.local_store", "ttg.local_alloc")


class ConversionRow(msgspec.Struct, frozen=True):
    """One change of layout. `bytes` is the size of the tensor; `source` names the origin of the data
    movement.

    `scratch_bytes` and `scratch_offset` are the compiler's allocation for the conversion, if there is one.
    `cost` is modeled. `words` describes the conversion in a sentence.
    """

    line: int
    name: str
    operation: str
    origin: int
    result: int
    movement: str
    movement_source: str
    bytes: int
    scratch_bytes: int | None
    scratch_offset: int | None
    cost: ConversionCost | None
    words: str


class SharedAccessRow(msgspec.Struct, frozen=True):
    """One access to shared memory by the lanes of a warp.

    `conflicts` is the number of excess wavefronts for each needed wavefront, as `source` counts it;
    `modelled_conflicts` is the same number counted lane by lane. Both apply to plain loads and
    stores. `emitted` are the instructions that were made of the access. Without either, `reason` says why.
    """

    line: int
    name: str
    operation: str
    registers: int
    shared: int
    conflicts: int | None
    source: str
    modelled_conflicts: int | None
    vector_bytes: int | None
    wavefronts: int | None
    least_wavefronts: int | None
    offsets_bytes: tuple[int, ...]
    banks: int
    emitted: tuple[Emitted, ...]
    emitted_source: str
    emitted_sharing: int
    reason: str


def conversions(survey: Survey, record: Record) -> list[ConversionRow]:
    """Analyze every conversion between layouts, in the order of the text."""
    allocations = record.result.allocations
    text = ""
    if allocations:
        with suppress(NotFound):  # Without the module, the buffers are not known.
            text = record.text_after_pass(allocations[0].pass_index)
    scratch = Scratch(allocations if text else (), text)
    return [
        _conversion(survey, operation, scratch)
        for operation in survey.answer.operations
        if operation.name in _CONVERSIONS and _ends(operation)
    ]


def shared_accesses(survey: Survey, emission: Emission) -> list[SharedAccessRow]:
    """Analyze every access of a warp to shared memory, in the order of the text."""
    found = []
    for operation in survey.answer.operations:
        registers = survey.operands(operation, "registers")
        shared = survey.operands(operation, "shared")
        if operation.name in _SHARED_ACCESSES and registers and shared:
            assert registers[0].layout is not None and shared[0].layout is not None
            found.append((operation, registers[0].layout, shared[0].layout))
    sharing = emission.sharing(operation.line for operation, *_ in found)
    return [_shared_access(survey, *each, emission, sharing.get(each[0].line, 0)) for each in found]


def _ends(operation: Operation) -> bool:
    return bool(
        operation.operands
        and operation.results
        and operation.operands[0].layout is not None
        and operation.results[0].layout is not None
    )


def _conversion(survey: Survey, operation: Operation, scratch: Scratch) -> ConversionRow:
    origin, result = operation.operands[0].layout, operation.results[0].layout
    assert origin is not None and result is not None
    layout = survey.layout(origin)
    old, new = survey.linear(origin), survey.linear(result)
    is_known, buffer = scratch.take(operation.text)
    how: Movement | Literal["unknown"]
    if operation.name in _TRANSPOSE_IN_THREAD:
        how, source = "registers", "compiler"
    elif operation.is_trivial:
        how, source = "nothing", "compiler"
    elif buffer:
        how, source = "shared memory", "compiler"
    elif old is not None and new is not None:
        how, source = movement(old, new), "modelled"
        if is_known and how == "shared memory":
            how = "shuffles"
    else:
        how, source = "unknown", ""
    modelled = None
    if old is not None and new is not None and how != "unknown":
        modelled = cost(old, new, layout.element_bits, how, survey.banks * BANK_BYTES)
    tensor_bytes = math.prod(layout.shape) * max(layout.element_bits, 8) // 8
    return ConversionRow(
        operation.line,
        operation.results[0].name,
        operation.name,
        origin,
        result,
        how,
        source,
        tensor_bytes,
        buffer.size_bytes if buffer else None,
        buffer.offset_bytes if buffer else None,
        modelled,
        _words(how, modelled, buffer, tensor_bytes),
    )


def _words(
    how: Movement | Literal["unknown"],
    modelled: ConversionCost | None,
    buffer: ScratchBuffer | None,
    tensor_bytes: int,
) -> str:
    match how:
        case "nothing":
            return "Nothing moves: each thread has every value in the register where it is wanted."
        case "registers":
            count = modelled.moved_registers if modelled else 0
            return f"Each thread permutes {count} of its registers. No value leaves its thread."
        case "shuffles":
            count = modelled.shuffles if modelled else 0
            return f"Lanes of a warp exchange values: about {count} shuffles per thread, no shared memory."
        case "shared memory":
            place = (
                f", a scratch buffer of {buffer.size_bytes:,} bytes at offset {buffer.offset_bytes:,},"
                if buffer
                else ""
            )
            least = f", at least {modelled.wavefronts:,} wavefronts" if modelled else ""
            return (
                f"Values move to other warps: {tensor_bytes:,} bytes are written to shared memory{place} "
                f"and read after a barrier{least}."
            )
        case "cluster":
            return "Values go to other blocks of the cluster, through their shared memory."
    return "The data movement is unknown, because one of the layouts is."


def _shared_access(
    survey: Survey, operation: Operation, registers: int, shared: int, emission: Emission, sharing: int
) -> SharedAccessRow:
    layout = survey.layout(registers)
    memory = survey.layout(shared).bases
    in_registers, in_memory = survey.linear(registers), survey.linear(shared)
    access, reason = None, ""
    emitted = emission.of(operation.line, "shared")
    if in_registers is None or in_memory is None or memory is None:
        reason = survey.layout(shared).reason or survey.layout(registers).reason
    elif not _fits(in_registers.shape, in_memory.shape):
        reason = "The shapes of the tensor and of the buffer do not fit."
    else:
        # A part of a buffer: its elements are a subset of the elements of the whole buffer.
        in_registers = LinearLayout(in_registers.inputs, in_memory.shape)
        padding = tuple((each.interval, each.padding) for each in memory.padding)
        try:
            access = shared_access(in_registers, in_memory, layout.element_bits, padding, survey.banks)
        except NoSolution as error:
            reason = str(error)
    modelled = access.conflicts if access else None
    counted = operation.bank_conflicts
    return SharedAccessRow(
        operation.line,
        next((each.name for each in operation.results if each.name), operation.operands[0].name),
        operation.name,
        registers,
        shared,
        modelled if counted is None else counted,
        "compiler" if counted is not None else "modelled" if access else "",
        modelled,
        access.vector_bytes if access else None,
        access.wavefronts if access else None,
        access.least if access else None,
        access.offsets if access else (),
        survey.banks,
        emitted,
        emission.source if emitted else "",
        sharing,
        reason,
    )


def _fits(part: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    return len(part) == len(whole) and all(one <= other for one, other in zip(part, whole, strict=True))
