"""Launches whose PTX and whose C are executed: kernel, arguments, grid, and the expected output.

Arrays are buffers in global memory, NumPy's scalars are passed by value. An expected None is compared
between the two executions only.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from ptx_as_c import ptx_interpreter, run_c

from explorer.examples import find_example

KERNELS = Path(__file__).parents[1] / "kernels"


@dataclass
class Case:
    """A launch. `expected` are the arrays after it, in the order of the arguments; None: not compared."""

    name: str
    kernel: str
    arguments: list[Any]
    grid: tuple[int, int, int]
    expected: list[Any]
    threads: int = 128
    tolerance: float = 1e-5

    @property
    def source(self):
        path = KERNELS / f"{self.name}.py"
        return path.read_text() if path.exists() else find_example(self.name).source


def memory_of(arguments):
    """Return all buffers in one memory, and where each argument is: an offset, or None for a scalar."""
    places, size = [], 256
    for each in arguments:
        is_buffer = isinstance(each, np.ndarray)
        places.append(size if is_buffer else None)
        size += (each.nbytes + 511) // 256 * 256 if is_buffer else 0
    memory = np.zeros(size, np.uint8)
    for each, place in zip(arguments, places, strict=True):
        if place is not None:
            memory[place : place + each.nbytes] = np.frombuffer(each.tobytes(), np.uint8)
    return memory, places


def outputs(case, memory, places):
    """Return the buffers after a launch."""
    return [
        np.frombuffer(memory[place : place + each.nbytes].tobytes(), each.dtype).reshape(each.shape)
        for each, place in zip(case.arguments, places, strict=True)
        if place is not None
    ]


def run_ptx(case, ptx, accesses=None):
    """Return the memory after the interpreter has run the PTX."""
    memory, places = memory_of(case.arguments)
    arguments = [
        np.uint64(ptx_interpreter.GLOBAL_BASE + place) if place is not None else each
        for each, place in zip(case.arguments, places, strict=True)
    ]
    ptx_interpreter.run(ptx, arguments, memory, case.grid, accesses)
    return memory, outputs(case, memory, places)


def run_translation(case, code, parameters, folder):
    """Return the memory after the C has been compiled and run. The kernel has as many `parameters`."""
    memory, places = memory_of(case.arguments)
    arguments = [
        f"(void *)(memory + {place})" if place is not None else _c_number(each)
        for each, place in zip(case.arguments, places, strict=True)
    ]
    arguments += ["NULL"] * (parameters - len(arguments))
    run_c.run(code, case.kernel, arguments, memory, case.threads, case.grid, folder)
    return memory


def _c_number(value):
    return (
        f"{float(value).hex()}{'f' if value.dtype == np.float32 else ''}"
        if value.dtype.kind == "f"
        else str(int(value))
    )


def cases():
    """Return all launches, with the same random numbers each time."""
    random = np.random.default_rng(7)

    def normal(*shape):
        return random.standard_normal(shape).astype(np.float32)

    i32 = np.int32
    x, y = normal(1500), normal(1500)
    yield Case("vector_add", "add_kernel", [x, y, np.zeros_like(x), i32(1500)], (2, 1, 1), [x, y, x + y])

    rows = normal(2, 2000)
    wide = np.exp(rows.astype(np.float64) - rows.max(axis=1, keepdims=True))
    soft = (wide / wide.sum(axis=1, keepdims=True)).astype(np.float32)
    strides = [i32(2000), i32(2000), i32(2000)]
    yield Case("softmax", "softmax_kernel", [rows, np.zeros_like(rows), *strides], (2, 1, 1), [rows, soft])

    long = normal(2, 9216)
    sums = long.astype(np.float64).sum(axis=1).astype(np.float32)
    yield Case(
        "reduction", "row_sum_kernel", [long, np.zeros(2, np.float32), i32(9216), i32(9216)], (2, 1, 1),
        [long, sums], threads=256, tolerance=1e-3,
    )  # fmt: skip

    yield Case(
        "copy_coalesced_strided", "copy_strided_kernel", [x, np.zeros_like(x), i32(1500)], (2, 1, 1), [x, x]
    )
    words = _philox(np.uint64(123), np.arange(1024, dtype=np.uint64))[:1500]
    kept = np.where(words > np.float32(0.25), x / np.float32(0.75), np.float32(0))
    yield Case(
        "dropout", "dropout_kernel", [x, np.zeros_like(x), i32(1500), np.float32(0.25), i32(123)],
        (2, 1, 1), [x, kept],
    )  # fmt: skip
    yield from _gallery_of_halves(random)
    yield from _own(random, normal)


def _philox(seed, counter):
    """Return Philox-4x32 as four numbers in [0, 1) for each counter."""
    word, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    c0, c1, c2, c3 = counter, counter * 0, counter * 0, counter * 0
    key0, key1 = seed & word, seed >> half
    for _ in range(10):
        one, two = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = two >> half ^ c1 ^ key0, two & word, one >> half ^ c3 ^ key1, one & word
        key0, key1 = key0 + np.uint64(0x9E3779B9) & word, key1 + np.uint64(0xBB67AE85) & word
    signed = np.stack([c0, c1, c2, c3], axis=-1).astype(np.uint32).view(np.int32).flatten()
    return np.where(signed < 0, -signed - 1, signed).astype(np.float32) * np.float32(4.6566127342e-10)


def _gallery_of_halves(random):
    i32 = np.int32
    columns = 2048
    x = random.standard_normal((2, columns)).astype(np.float16)
    weight, bias = (random.standard_normal(columns).astype(np.float16) for _ in range(2))
    wide = x.astype(np.float64)
    mean = wide.mean(axis=1)
    rstd = 1 / np.sqrt(wide.var(axis=1) + 1e-5)
    normal = (wide - mean[:, None]) * rstd[:, None] * weight.astype(np.float64) + bias.astype(np.float64)
    single = np.float32
    yield Case(
        "layer_norm", "layer_norm_kernel",
        [x, weight, bias, np.zeros_like(x), np.zeros(2, single), np.zeros(2, single),
         i32(columns), i32(columns), single(1e-5)],
        (2, 1, 1), [x, weight, bias, normal.astype(np.float16), mean.astype(single), rstd.astype(single)],
        threads=256, tolerance=2e-3,
    )  # fmt: skip


def _own(random, normal):
    i32 = np.int32
    count = 300
    small = random.integers(-128, 128, count).astype(np.int8)
    middle = random.integers(0, 1 << 16, count).astype(np.uint16)
    large = random.integers(-(1 << 40), 1 << 40, count).astype(np.int64)
    out, narrow = np.full(count, -1, np.int64), np.full(count, 77, np.int8)
    index = np.arange(count)
    mask = index % 3 != 1
    divisor = small.astype(np.int64) * small + 3
    quotient = _truncated(large, divisor)
    rest = large - _truncated(large, middle.astype(np.int64) + 1) * (middle.astype(np.int64) + 1)
    mixed = (quotient ^ (rest << 5)) + (large >> 7) - np.where(small < 0, middle.astype(np.int64), -large)
    yield Case(
        "integers", "integers", [small, middle, large, out, narrow, i32(count)], (3, 1, 1),
        [small, middle, large, np.where(mask, mixed, out),
         np.where(mask & (small > 0), (mixed & 255).astype(np.uint8).view(np.int8), narrow)],
    )  # fmt: skip

    lengths = np.array([300, 7, 55, 130, 1], i32)
    x = normal(5, 300)
    yield Case(
        "loops", "loops", [x, lengths, np.zeros(16, np.float32), i32(300)], (5, 1, 1),
        [x, lengths, _loops(x, lengths)], tolerance=1e-3,
    )  # fmt: skip

    count = 200
    half = random.standard_normal(count).astype(np.float16)
    bfloat = random.integers(0x3F00, 0x4100, count).astype(np.uint16)
    single = normal(count)
    single[::17] = np.nan
    double = random.standard_normal(count)
    yield Case(
        "floats", "floats",
        [half, bfloat, single, double, np.zeros(count, np.float16), np.zeros(count), i32(count)], (2, 1, 1),
        [half, None, single, None, None, np.concatenate([np.cumsum(double[:128]), np.cumsum(double[128:])])],
    )  # fmt: skip

    matrix = random.integers(0, 16, (32, 64)).astype(i32)
    counts = np.zeros(8, i32)
    np.add.at(counts, matrix[matrix > 3] % 8, 1)
    yield Case(
        "exchange", "exchange",
        [matrix, np.zeros((64, 32), i32), np.zeros(32, i32), np.zeros(8, i32)], (1, 1, 1),
        [matrix, matrix.T + 1, matrix.argmax(axis=1).astype(i32), counts],
    )  # fmt: skip


def _truncated(one, other):
    quotient = np.abs(one) // np.abs(other)
    return np.where((one < 0) ^ (other < 0), -quotient, quotient)


def _loops(x, lengths):
    result = np.zeros(16, np.float32)
    for row, length in enumerate(lengths.tolist()):
        padded = np.zeros((length + 127) // 128 * 128)
        padded[:length] = x[row, :length]
        for power in range(row):
            padded = padded * 0.5 + power
        total = padded.sum()
        result[row] = total / length if length > 100 else -total if length > 10 else total
        steps = 0
        while length > 1:
            length = length // 2 if length % 2 == 0 else 3 * length + 1
            steps += 1
        result[8 + row] = steps
    return result
