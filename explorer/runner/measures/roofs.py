"""Measures the highest rates of this GPU: a large copy, large reads, reads from the L2, matmuls by type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl

from explorer.model.measurements import Roof, Roofs
from explorer.runner.error_hints import is_fatal
from explorer.runner.measures.context import MeasureContext
from explorer.runner.measures.time import rest, warm_up

REPEATS = 20
MOST_DRAM_BYTES = 4 * 2**30
MATMUL_SIZE = 8192
#: Smaller sizes for fp32 and fp64, which are slow without tensor cores.
SLOW_MATMUL_SIZE = 4096
L2_READS = 64
DRAM_READS = 16
#: The 4-byte numbers that a program reads at once.
READ_BLOCK = 2048
#: The distance between the blocks that a program reads: a prime number, so that programs differ in order.
L2_STEP = 7919


def measure(context: MeasureContext) -> None:
    context.emit_measurement(Roofs(tuple(_roofs(context))))


def _roofs(context: MeasureContext) -> list[Roof]:
    found = []
    wanted: list[tuple[str, Callable[[], Roof]]] = [
        ("DRAM, copied", _copy),
        ("DRAM, read", _dram_reads),
        ("L2", _l2),
        *((name, lambda name=name, make=make: _matmul(name, make)) for name, make in MATMULS.items()),
    ]
    for position, (name, measured) in enumerate(wanted):
        context.report_progress(f"Roof: {name}", position / len(wanted))
        try:
            found.append(measured())
        except (RuntimeError, NotImplementedError, AttributeError, TypeError) as error:
            if is_fatal(error):
                raise
            # torch has no matmul of this type for this GPU, so there is no such roof.
            continue
        finally:
            torch.cuda.empty_cache()
    return found


def _copy() -> Roof:
    size = _dram_bytes()
    source = torch.empty(size, dtype=torch.uint8, device="cuda").random_()
    target = torch.empty_like(source)
    seconds = _seconds(lambda: target.copy_(source))
    return Roof(
        "dram", "memory", 2 * size / seconds, "measured", f"copy of {size / 2**30:.3g} GiB, read and written"
    )


@triton.jit  # type: ignore[untyped-decorator]  # Triton is untyped here
def read_blocks(
    pointer: tl.tensor,
    sums: tl.tensor,
    blocks: tl.tensor,
    step: tl.tensor,
    reads: tl.constexpr,
    size: tl.constexpr,
) -> None:
    """Read `reads` blocks of `size` numbers, `step` blocks apart, past the L1 (".cg")."""
    program = tl.program_id(0)
    total = tl.zeros((size,), dtype=tl.int32)
    for index in range(reads):
        block = (program + index * step) % blocks
        total += tl.load(pointer + block * size + tl.arange(0, size), cache_modifier=".cg")
    tl.store(sums + program, tl.sum(total))


def _dram_reads() -> Roof:
    """Measure reads from DRAM, each number once. Unlike in a copy, no writes come between them."""
    programs = _dram_bytes() // (4 * READ_BLOCK * DRAM_READS)
    size = 4 * READ_BLOCK * DRAM_READS * programs
    seconds = _seconds(_reading(programs * DRAM_READS, programs, step=programs, reads=DRAM_READS))
    return Roof("dram", "memory", size / seconds, "measured", f"reads of {size / 2**30:.3g} GiB")


def _l2() -> Roof:
    """Measure repeated reads of a quarter of the L2 by all multiprocessors.

    A quarter, because an L2 with two halves keeps a copy of the other half's data in each.
    """
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    blocks = properties.L2_cache_size // 4 // (4 * READ_BLOCK)
    programs = 64 * properties.multi_processor_count
    seconds = _seconds(_reading(blocks, programs, step=L2_STEP, reads=L2_READS))
    read = 4 * READ_BLOCK * L2_READS * programs
    return Roof("l2", "memory", read / seconds, "measured", "repeated reads of a quarter of the L2")


def _dram_bytes() -> int:
    """Return the size of a tensor that no cache can hold, and that fits twice in memory."""
    free, _total = torch.cuda.mem_get_info()
    return min(MOST_DRAM_BYTES, int(free) // 4)


def _reading(blocks: int, programs: int, *, step: int, reads: int) -> Callable[[], object]:
    """Return a function in which each program reads `reads` blocks of a new tensor."""
    values = torch.ones(blocks * READ_BLOCK, dtype=torch.int32, device="cuda")
    sums = torch.empty(programs, dtype=torch.int32, device="cuda")
    return lambda: read_blocks[(programs,)](values, sums, blocks, step, reads=reads, size=READ_BLOCK)


def _matmul(name: str, make: Callable[[int], Callable[[], object]]) -> Roof:
    size = SLOW_MATMUL_SIZE if name in ("fp32", "fp64", "tensor fp64") else MATMUL_SIZE
    seconds = _seconds(make(size))
    return Roof(
        name,
        "compute",
        2 * size**3 / seconds,
        "measured",
        f"torch matmul of {size} × {size} × {size}, normal values",
    )


def _seconds(run: Callable[[], object]) -> float:
    """Return the shortest time of several launches. The GPU rests after each (`time`)."""
    warm_up(run)
    times: list[float] = []
    for _ in range(REPEATS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        run()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / 1000)
        rest(times[-1])
    return min(times)


def _plain(dtype: torch.dtype, precision: str = "highest") -> Callable[[int], Callable[[], object]]:
    def make(size: int) -> Callable[[], object]:
        a, b = (torch.randn(size, size, device="cuda", dtype=torch.float32).to(dtype) for _ in range(2))
        out = torch.empty(size, size, device="cuda", dtype=dtype)

        def run() -> None:
            torch.set_float32_matmul_precision(precision)
            torch.mm(a, b, out=out)

        return run

    return make


def _fp8(size: int) -> Callable[[], object]:
    a, b = (torch.randn(size, size, device="cuda").to(torch.float8_e4m3fn) for _ in range(2))
    scale = torch.ones((), device="cuda")
    return lambda: torch._scaled_mm(a, b.t(), scale_a=scale, scale_b=scale, out_dtype=torch.bfloat16)


def _int8(size: int) -> Callable[[], object]:
    a, b = (torch.randint(-127, 128, (size, size), device="cuda", dtype=torch.int8) for _ in range(2))
    return lambda: torch._int_mm(a, b.t())


MATMULS: dict[str, Any] = {
    "tensor fp16": _plain(torch.float16),
    "tensor bf16": _plain(torch.bfloat16),
    "tensor tf32": _plain(torch.float32, "high"),
    "tensor fp8": _fp8,
    "tensor int8": _int8,
    "tensor fp64": _plain(torch.float64),
    "fp32": _plain(torch.float32),
}
