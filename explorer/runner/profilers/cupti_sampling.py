"""Samples program counters with the CUPTI that comes with Triton: the stall reasons of each instruction.

Proton samples, too, but distinguishes lines only in kernels that are loaded while it is active, and never
instructions. Source: cupti_pcsampling.h of CUDA 12.8. Sampling must be done before counting: after the range
profiler, CUPTI takes no samples in the process.
"""

from __future__ import annotations

import ctypes
from collections import defaultdict
from collections.abc import Callable, Iterator

import torch

from explorer.runner.measures.context import MeasureContext
from explorer.runner.measures.time import warm_up
from explorer.runner.profilers.cupti_library import Cupti, address, current_context
from explorer.runner.profilers.metrics import STALLS, NoCounters

#: The samples of each instruction, by its offset in bytes and by stall reason.
Sampled = dict[int, dict[str, int]]

_PERIOD, _REASONS, _SCRATCH_BYTES, _HARDWARE_BYTES, _MODE, _START_STOP, _DATA = 1, 2, 3, 4, 5, 6, 8
_CONTINUOUS = 1
#: Each multiprocessor takes a sample every 2^11 cycles, about a microsecond.
_PERIOD_EXPONENT = 11
_BUFFER_BYTES = 64 * 2**20
_MOST_INSTRUCTIONS = 20_000
_NAME_BYTES = 128
_NOT_ISSUED = "_not_issued"
_SECONDS, _LEAST_LAUNCHES, _MOST_LAUNCHES = 0.05, 3, 1000


class _Stall(ctypes.Structure):
    _fields_ = (("reason", ctypes.c_uint32), ("samples", ctypes.c_uint32))


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("cubin", ctypes.c_uint64),
        ("offset", ctypes.c_uint64),
        ("function_index", ctypes.c_uint32),
        ("padding", ctypes.c_uint32),
        ("function", ctypes.c_char_p),
        ("stall_count", ctypes.c_size_t),
        ("stalls", ctypes.POINTER(_Stall)),
        ("correlation", ctypes.c_uint32),
    )


class _Data(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("room", ctypes.c_size_t),
        ("samples", ctypes.c_uint64),
        ("dropped", ctypes.c_uint64),
        ("count", ctypes.c_size_t),
        ("remaining", ctypes.c_size_t),
        ("range", ctypes.c_uint64),
        ("instructions", ctypes.POINTER(_Instruction)),
        ("others", ctypes.c_uint64),
        ("is_full", ctypes.c_uint8),
    )


class _Attribute(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int), ("status", ctypes.c_int), ("value", ctypes.c_uint64 * 3))


class _Buffer:
    """A buffer for the samples of many instructions."""

    def __init__(self, reasons: int) -> None:
        self._stalls = (_Stall * (reasons * _MOST_INSTRUCTIONS))()
        self._instructions = (_Instruction * _MOST_INSTRUCTIONS)()
        size = ctypes.sizeof(_Stall) * reasons
        start = ctypes.addressof(self._stalls)
        for index, instruction in enumerate(self._instructions):
            instruction.size = ctypes.sizeof(_Instruction)
            instruction.stall_count = reasons
            instruction.stalls = ctypes.cast(start + index * size, ctypes.POINTER(_Stall))
        self.data = _Data(size=ctypes.sizeof(_Data), room=_MOST_INSTRUCTIONS)
        self.data.instructions = ctypes.cast(self._instructions, ctypes.POINTER(_Instruction))


def sampled(context: MeasureContext) -> Sampled:
    """Sample the launch of `context`. Repeated calls return the same samples.

    Raises:
        NoCounters: CUPTI cannot sample here, or is not permitted to.
    """
    if context.sampled is None:
        launch = context.launch
        launches = max(_LEAST_LAUNCHES, min(_MOST_LAUNCHES, int(_SECONDS / warm_up(launch.run))))

        def body() -> None:
            for _ in range(launches):
                launch.run()

        try:
            context.sampled = sample(getattr(launch.compiled, "name", launch.facts.kernel), body)
        finally:
            launch.restore()
    if not context.sampled:
        raise NoCounters("CUPTI took no samples of this launch. Use larger sizes.")
    return context.sampled


def sample(kernel: str, launch: Callable[[], object]) -> Sampled:
    """Sample while `launch` launches `kernel`.

    Raises:
        NoCounters: CUPTI cannot sample here, or is not permitted to.
    """
    cupti = Cupti()
    context = current_context()
    found: Sampled = defaultdict(lambda: defaultdict(int))
    cupti.call("cuptiPCSamplingEnable", context=context)
    try:
        names = _reasons(cupti, context)
        buffer = _Buffer(len(names))
        _configure(cupti, context, list(names), buffer)
        cupti.call("cuptiPCSamplingStart", context=context)
        launch()
        torch.cuda.synchronize()
        cupti.call("cuptiPCSamplingStop", context=context)
        for instruction in _all(cupti, context, buffer):
            if (instruction.function or b"").decode() == kernel:
                for stall in instruction.stalls[: instruction.stall_count]:
                    name = names.get(stall.reason, "")
                    if stall.samples and name and not name.endswith(_NOT_ISSUED):
                        found[instruction.offset][name] += stall.samples
    finally:
        cupti.call("cuptiPCSamplingDisable", context=context)
    return {offset: dict(stalls) for offset, stalls in sorted(found.items())}


def _reasons(cupti: Cupti, context: ctypes.c_void_p) -> dict[int, str]:
    """Return the names of the stall reasons by CUPTI's numbers."""
    count = ctypes.c_size_t()
    cupti.call("cuptiPCSamplingGetNumStallReasons", context=context, count=address(ctypes.pointer(count)))
    numbers = (ctypes.c_uint32 * count.value)()
    rooms = [ctypes.create_string_buffer(_NAME_BYTES) for _ in range(count.value)]
    texts = (ctypes.c_void_p * count.value)(*(ctypes.addressof(room) for room in rooms))
    cupti.call(
        "cuptiPCSamplingGetStallReasons",
        context=context,
        count=count.value,
        numbers=address(numbers),
        names=address(texts),
    )
    return {
        number: room.value.decode().removeprefix(STALLS) for number, room in zip(numbers, rooms, strict=True)
    }


def _configure(cupti: Cupti, context: ctypes.c_void_p, reasons: list[int], buffer: _Buffer) -> None:
    numbers = (ctypes.c_uint32 * len(reasons))(*reasons)
    values = {
        _PERIOD: (_PERIOD_EXPONENT,),
        _REASONS: (len(reasons), ctypes.addressof(numbers)),
        _SCRATCH_BYTES: (_BUFFER_BYTES,),
        _HARDWARE_BYTES: (_BUFFER_BYTES,),
        _MODE: (_CONTINUOUS,),
        _START_STOP: (1,),
        _DATA: (ctypes.addressof(buffer.data),),
    }
    attributes = (_Attribute * len(values))(
        *(_Attribute(kind, 0, (ctypes.c_uint64 * 3)(*value)) for kind, value in values.items())
    )
    cupti.call(
        "cuptiPCSamplingSetConfigurationAttribute",
        context=context,
        count=len(attributes),
        attributes=address(attributes),
    )


def _all(cupti: Cupti, context: ctypes.c_void_p, buffer: _Buffer) -> Iterator[_Instruction]:
    """Yield all samples: the samples in the buffer, and then the samples that the hardware still holds."""
    data = buffer.data
    yield from data.instructions[: data.count]
    while True:
        cupti.call("cuptiPCSamplingGetData", context=context, data=ctypes.c_void_p(ctypes.addressof(data)))
        yield from data.instructions[: data.count]
        if not data.remaining:
            return
