"""Counts the requests of a kernel in the interpreter: bytes, sectors and flops, by source line.

The counter wraps the interpreter's builder, which executes every operation of the language with its masks.
Source: triton/runtime/interpreter.py, 3.6.0 and 3.9.0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime import interpreter

from explorer.model.hardware import Target
from explorer.model.measurements import Counts, OperationCount
from explorer.pipeline.errors import user_error
from explorer.pipeline.fake_gpu import replaced
from explorer.pipeline.user_source import user_line
from explorer.runner.interpreter.bfloat16 import bfloat16_arithmetic
from explorer.runner.interpreter.interpreter import Interpretation
from explorer.runner.interpreter.sectors import Addresses, Memory, different, memories_of, sectors_of

#: Flops per element of an operation, by the builder's name of it. Comparisons, minimum and maximum, sign
#: changes and conversions have none. Atomic operations have none either: the L2 cache computes them, and
#: profilers count the arithmetic instructions of the multiprocessors.
ARITHMETIC = {
    "create_fadd": ("add", 1),
    "create_fsub": ("subtract", 1),
    "create_fmul": ("multiply", 1),
    "create_fma": ("fma", 2),
    "create_fdiv": ("divide", 1),
    "create_precise_divf": ("divide", 1),
    "create_approx_divf": ("divide", 1),
    "create_frem": ("remainder", 1),
}

#: The same for functions that a GPU computes with special function units or a library.
SPECIAL = {
    "create_exp": "exp",
    "create_exp2": "exp2",
    "create_log": "log",
    "create_log2": "log2",
    "create_sin": "sin",
    "create_cos": "cos",
    "create_sqrt": "sqrt",
    "create_precise_sqrt": "sqrt",
    "create_rsqrt": "rsqrt",
    "create_erf": "erf",
}

_TYPES = {"fp8e4nv": "fp8", "fp8e5": "fp8", "fp8e4b8": "fp8", "fp8e5b16": "fp8", "fp8e4b15": "fp8"}


@dataclass
class _Count:
    executions: int = 0
    requested_bytes: int = 0
    sectors: int = 0
    flops: int = 0


class Counter:
    """Counts over the programs of one launch. `tensors` are all tensors of the kernel."""

    def __init__(self, tensors: dict[str, torch.Tensor], target: Target) -> None:
        self._target = target
        self._memories = memories_of(tensors)
        self._operations: defaultdict[tuple[int, str], _Count] = defaultdict(_Count)
        self._flops: defaultdict[str, int] = defaultdict(int)
        self._bytes = {"load": 0, "store": 0}
        self._sectors = {"load": 0, "store": 0}
        self._in_program: dict[str, list[Addresses]] = {"load": [], "store": []}
        self._elsewhere: dict[str, list[Addresses]] = {"load": [], "store": []}
        self._may_point_anywhere = False
        self._unset: defaultdict[tuple[int, str], int] = defaultdict(int)

    # --- results ------------------------------------------------------------------------------

    def counts(self, interpretation: Interpretation) -> Counts:
        operations = tuple(
            OperationCount(line, name, each.executions, each.requested_bytes, each.sectors, each.flops)
            for (line, name), each in sorted(self._operations.items())
        )
        elsewhere = {kind: _join(pieces) for kind, pieces in self._elsewhere.items()}
        touched = sum(_marked(memory.is_loaded | memory.is_stored) for memory in self._memories)
        return Counts(
            interpretation.programs,
            interpretation.grid_programs,
            operations,
            self._bytes["load"],
            self._bytes["store"],
            self._sectors["load"],
            self._sectors["store"],
            touched + _join([*elsewhere.values()]).size,
            dict(sorted(self._flops.items())),
            sum(_marked(memory.is_loaded) for memory in self._memories) + elsewhere["load"].size,
            sum(_marked(memory.is_stored) for memory in self._memories) + elsewhere["store"].size,
        )

    def written(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return which elements of `tensor` were written."""
        address = tensor.untyped_storage().data_ptr()
        memory = next(memory for memory in self._memories if memory.begin == address)
        return memory.written(tensor)

    @property
    def uninitialized_reads(self) -> dict[tuple[int, str], int]:
        """The number of uninitialized elements that were read, by the first reading line and by tensor."""
        return dict(self._unset)

    @property
    def has_atomics(self) -> bool:
        """Whether programs may add to each other's results."""
        return any(name == "atomic" for _, name in self._operations)

    # --- counting -----------------------------------------------------------------------------

    @contextmanager
    def program(self) -> Iterator[None]:
        """Surround each program."""
        yield
        for kind, pieces in self._in_program.items():
            if pieces:
                self._sectors[kind] += different(np.concatenate(pieces)).size
                pieces.clear()

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Wrap the builder."""
        with bfloat16_arithmetic():
            yield from self._counting()

    def _counting(self) -> Iterator[None]:
        builder = interpreter.interpreter_builder
        changes = [
            *self._memory_operations(builder),
            *((builder, name, self._elementwise(getattr(builder, name), operation, flops, ""))
              for name, (operation, flops) in ARITHMETIC.items() if hasattr(builder, name)),
            *((builder, name, self._elementwise(getattr(builder, name), operation, 1, "special "))
              for name, operation in SPECIAL.items() if hasattr(builder, name)),
            *((builder, name, self._product(getattr(builder, name)))
              for name in ("create_dot", "create_dot_scaled") if hasattr(builder, name)),
            (interpreter.ReduceOps, "sum", self._sum(interpreter.ReduceOps.sum)),
            (interpreter.ScanOps, "cumsum", self._scan(interpreter.ScanOps.cumsum, "cumulative sum")),
            (interpreter.ScanOps, "cumprod", self._scan(interpreter.ScanOps.cumprod, "cumulative product")),
        ]  # fmt: skip
        with replaced(changes):
            try:
                yield
            finally:
                # The instance had no such attribute: the original belongs to its class.
                for owner, name, _ in changes:
                    if owner is builder:
                        vars(builder).pop(name, None)

    def _memory_operations(self, builder: Any) -> list[tuple[Any, str, Any]]:
        load, store = builder.create_masked_load, builder.create_masked_store
        exchange, compare, cast = (
            builder.create_atomic_rmw,
            builder.create_atomic_cas,
            builder.create_int_to_ptr,
        )

        def masked_load(pointers: Any, mask: Any, *rest: Any, **options: Any) -> Any:
            self._access("load", "load", pointers, mask.data)
            return load(pointers, mask, *rest, **options)

        def masked_store(pointers: Any, value: Any, mask: Any, *rest: Any, **options: Any) -> Any:
            self._access("store", "store", pointers, mask.data)
            return store(pointers, value, mask, *rest, **options)

        def atomic(operation: Any, pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
            self._access("atomic", "store", pointers, mask.data)
            return exchange(operation, pointers, value, mask, *rest)

        def compare_and_swap(pointers: Any, *rest: Any) -> Any:
            self._access("atomic", "store", pointers, np.ones(pointers.data.shape, dtype=np.bool_))
            return compare(pointers, *rest)

        def integer_to_pointer(*arguments: Any) -> Any:
            self._may_point_anywhere = True
            return cast(*arguments)

        return [
            (builder, "create_masked_load", masked_load),
            (builder, "create_masked_store", masked_store),
            (builder, "create_atomic_rmw", atomic),
            (builder, "create_atomic_cas", compare_and_swap),
            (builder, "create_int_to_ptr", integer_to_pointer),
        ]

    def _elementwise(self, create: Callable[..., Any], operation: str, flops: int, unit: str) -> Any:
        def counted(*arguments: Any) -> Any:
            result = create(*arguments)
            self._add_flops(operation, flops * result.data.size, unit + _type_name(result.dtype))
            return result

        return counted

    def _product(self, create: Callable[..., Any]) -> Any:
        def counted(*arguments: Any, **options: Any) -> Any:
            result = create(*arguments, **options)
            left = arguments[0]
            is_scaled = len(arguments) > 5
            depth = left.data.shape[-1]
            if is_scaled and left.dtype == tl.uint8:  # Two elements of 4 bits per byte.
                depth *= 2
            if left.dtype.scalar == tl.float32:
                kind = self._target.fp32_product(arguments[3].name)
            else:
                kind = f"tensor {_type_name(left.dtype)}"
            self._add_flops("dot", 2 * result.data.size * depth, kind)
            return result

        return counted

    def _sum(self, add: Callable[..., Any]) -> Any:
        def counted(self_: Any, given: Any) -> Any:
            result = add(self_, given)
            adds = given.handle.data.size - result.handle.data.size
            self._add_flops("sum", adds, _type_name(given.dtype))
            return result

        return counted

    def _scan(self, scan: Callable[..., Any], operation: str) -> Any:
        def counted(self_: Any, given: Any) -> Any:
            shape = given.handle.data.shape
            steps = given.handle.data.size // max(shape[self_.axis], 1) * max(shape[self_.axis] - 1, 0)
            self._add_flops(operation, steps, _type_name(given.dtype))
            return scan(self_, given)

        return counted

    def _add_flops(self, operation: str, flops: int, kind: str) -> None:
        """Add flops of a kind. Integers have none."""
        if "int" in kind.split(" ")[-1] and not kind.startswith("tensor"):
            return
        count = self._operations[user_line(), operation]
        count.executions += 1
        count.flops += flops
        self._flops[kind] += flops

    def _access(self, operation: str, kind: str, pointers: Any, mask: Any) -> None:
        size = max(1, pointers.get_element_ty().primitive_bitwidth // 8)
        shape = np.shape(pointers.data)
        addresses = pointers.data[np.broadcast_to(mask, shape)].astype(np.int64)
        line = user_line()
        count = self._operations[line, operation]
        count.executions += 1
        if not addresses.size:
            return
        sectors = sectors_of(addresses, size)
        count.requested_bytes += addresses.size * size
        count.sectors += sectors.size
        self._bytes[kind] += addresses.size * size
        self._in_program[kind].append(sectors)
        low, high = int(addresses.min()), int(addresses.max()) + size
        for memory in self._memories:
            if memory.begin <= low and high <= memory.end:
                memory.touch(operation, sectors)
                self._move(operation, line, memory, addresses)
                return
        self._access_elsewhere(operation, line, addresses, size, sectors)

    def _access_elsewhere(
        self, operation: str, line: int, addresses: Addresses, size: int, sectors: Addresses
    ) -> None:
        """Handle an access that is not within one tensor: outside of all tensors, or in several."""
        is_inside = np.zeros(addresses.shape, dtype=np.bool_)
        for memory in self._memories:
            here = (addresses >= memory.begin) & (addresses + size <= memory.end)
            is_inside |= here
            if here.any():
                memory.touch(operation, sectors_of(addresses[here], size))
                self._move(operation, line, memory, addresses[here])
        if is_inside.all():
            return
        if not self._may_point_anywhere:
            raise self._outside(operation, line, addresses[~is_inside], size)
        for kind in ("load", "store"):
            if operation in (kind, "atomic"):
                self._elsewhere[kind].append(sectors)

    def _move(self, operation: str, line: int, memory: Memory, addresses: Addresses) -> None:
        """Record that elements are read, written, or both."""
        if operation != "store" and (unset := memory.read(addresses)):
            self._unset[line, memory.name] += unset
        if operation != "load":
            memory.write(addresses)

    def _outside(self, operation: str, line: int, addresses: Addresses, size: int) -> Exception:
        """Return the error for an access outside of the kernel's tensors."""
        worst = int(addresses[0])
        nearest = min(self._memories, key=_distance(worst), default=None)
        verb = "reads" if operation == "load" else "writes"
        where = ""
        if nearest is not None:
            where = (
                f", {nearest.begin - worst:,} bytes before the start of a tensor"
                if worst < nearest.begin
                else f", {worst + size - nearest.end:,} bytes past the end of a tensor of "
                f"{nearest.end - nearest.begin:,} bytes"
            )
        index = interpreter.interpreter_builder.grid_idx
        return user_error(
            f"Program {index} {verb} outside of its tensors{where}: "
            f"{addresses.size:,} {'element' if addresses.size == 1 else 'elements'} of this operation.",
            line,
            "Mask the elements out of bounds: tl.load(…, mask=…), tl.store(…, mask=…).",
        )


def _distance(address: int) -> Callable[[Memory], int]:
    return lambda memory: max(memory.begin - address, address - memory.end)


def _join(pieces: list[Addresses]) -> Addresses:
    """Return the distinct sectors of all pieces."""
    return different(np.concatenate([np.empty(0, dtype=np.int64), *pieces]))


def _marked(marks: Any) -> int:
    return int(np.count_nonzero(marks))


def _type_name(dtype: Any) -> str:
    scalar = dtype.scalar
    name: str = scalar.name
    return _TYPES.get(name, name)
