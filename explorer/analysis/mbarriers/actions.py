"""The operations on mbarriers, and on the memory that is copied and multiplied asynchronously.

In: an operation with the values of its operands. Out: its effect as an `Action`, or None if its predicate is
off.

Source: the printers and the lowering of the dialects ttg and ttng of Triton, 3.6 and 3.9, and the section on
mbarriers of the PTX manual: an expectation of bytes arrives once, and so does the end of a product.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

from explorer.analysis.mbarriers.values import ArgumentNeeded, Memory, NotEvaluated, Unknown, Value
from explorer.analysis.mlir.operations import Operation

#: "copy" is done by the copy unit, "product" and "commit" by the matrix unit; "drain" waits for products
#: whose operands are in shared memory and whose result is in registers.
Kind = Literal[
    "init", "invalidate", "wait", "expect", "arrive", "copy", "product", "commit", "access", "drain"
]  # fmt: skip

_KINDS: Mapping[str, Kind] = {
    "ttng.init_barrier": "init",
    "ttng.inval_barrier": "invalidate",
    "ttng.wait_barrier": "wait",
    "ttng.barrier_expect": "expect",
    "ttng.arrive_barrier": "arrive",
    "ttng.async_copy_mbarrier_arrive": "copy",
    "ttng.async_tma_copy_global_to_local": "copy",
    "ttng.async_tma_gather": "copy",
    "ttng.clc_try_cancel": "copy",
    "ttng.tc_gen5_mma": "product",
    "ttng.tc_gen5_mma_scaled": "product",
    "ttng.tmem_copy": "product",
    "ttng.tc_gen5_commit": "commit",
    "ttng.warp_group_dot": "access",
    "ttng.warp_group_dot_wait": "drain",
    "ttng.async_tma_copy_local_to_global": "access",
    "ttng.async_tma_reduce": "access",
    "ttng.async_tma_scatter": "access",
    "ttng.tmem_load": "access",
    "ttng.tmem_store": "access",
    "ttg.local_load": "access",
    "ttg.local_store": "access",
}
#: The positions of predicates and of written memory among the operands that are in no brackets.
_PREDICATES = {
    "ttng.wait_barrier": 2,
    "ttng.barrier_expect": 1,
    "ttng.arrive_barrier": 1,
    "ttng.async_tma_copy_global_to_local": 3,
    "ttng.async_tma_gather": 3,
    "ttng.tc_gen5_mma": 4,
    "ttng.tc_gen5_mma_scaled": 6,
    "ttng.tc_gen5_commit": 1,
    "ttng.tmem_store": 2,
}
_WRITTEN = {
    "ttng.async_tma_copy_global_to_local": 1,
    "ttng.async_tma_gather": 1,
    "ttng.clc_try_cancel": 0,
    "ttng.tc_gen5_mma": 2,
    "ttng.tc_gen5_mma_scaled": 2,
    "ttng.tmem_copy": 1,
    "ttng.tmem_store": 1,
    "ttg.local_store": 1,
}
#: The positions from which on the operands are mbarriers, and the last of them.
_SIGNALS = {
    "ttng.init_barrier": (0, 1),
    "ttng.inval_barrier": (0, 1),
    "ttng.wait_barrier": (0, 1),
    "ttng.barrier_expect": (0, 1),
    "ttng.arrive_barrier": (0, 1),
    "ttng.async_copy_mbarrier_arrive": (0, 1),
    "ttng.async_tma_copy_global_to_local": (2, 3),
    "ttng.async_tma_gather": (2, 3),
    "ttng.clc_try_cancel": (1, 2),
    "ttng.tc_gen5_mma": (5, None),
    "ttng.tc_gen5_mma_scaled": (7, None),
    "ttng.tmem_copy": (2, 3),
    "ttng.tc_gen5_commit": (0, 1),
}
_NUMBER = re.compile(r"%[\w$.-]+, (\d{1,9})\b")
_PENDINGS = re.compile(r"\bpendings = (\d{1,9})\b")
_BRACKETS = re.compile(r"\[[^\[\]]*\]")
_SIGNAL_PREDICATE = re.compile(r"(%[\w$.-]+(?:#\d+)?)\[(%[\w$.-]+(?:#\d+)?)\]")
_VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")
_SHAPE = re.compile(r"!ttg\.memdesc<((?:\d{1,9}x)+)[a-z]+(\d{1,3})")
#: The bytes that say whether a cluster has been canceled.
_CANCELED_BYTES = 16


@dataclass(frozen=True, eq=False)
class Action:
    """The effect of an operation.

    `signals` are the mbarriers that the operation waits for, or that the operation or its unit arrives at.
    `number`: the arrivals (init, arrive), the bytes (expect, copy), the parity of the phase that is waited
    for (wait), or how many products may remain (drain). `reads` and `writes` are memory; `is_async`: the
    access lasts until a unit, or a later "drain", completes it. `is_counted`: its threads arrive, which the
    mbarrier does not count yet.
    """

    kind: Kind
    operation: Operation
    signals: tuple[Memory, ...] = ()
    number: int = 0
    reads: tuple[Memory, ...] = ()
    writes: tuple[Memory, ...] = ()
    is_async: bool = False
    is_counted: bool = False


def is_action(operation: Operation) -> bool:
    return operation.name in _KINDS


def read_action(operation: Operation, value_of: Callable[[str], Value], threads: int) -> Action | None:
    """Return the effect of an operation that `threads` threads execute; None: its predicate is off.

    Raises:
        ArgumentNeeded: it follows from an argument without a value.
        NotEvaluated: an operand that decides the effect is not known, or the effect is not modeled.
    """
    return _Reader(operation, value_of, threads).read()


def integer(operation: Operation, value: Value) -> int:
    """Return a value that decides the effect of an operation.

    Raises:
        ArgumentNeeded: it follows from an argument without a value.
        NotEvaluated: it is not known.
    """
    if isinstance(value, int):
        return value
    if isinstance(value, Unknown) and value.argument:
        raise ArgumentNeeded(value.argument)
    if isinstance(value, Unknown) and value.line:
        made = f"`{value.operation}` in line {value.line} of TTGIR"
        raise NotEvaluated(operation.line, f"it depends on the result of {made}, which only a run knows")
    raise NotEvaluated(operation.line, "it depends on a value that cannot be read")


class _Reader:
    def __init__(self, operation: Operation, value_of: Callable[[str], Value], threads: int) -> None:
        self._operation = operation
        self._value_of = value_of
        self._threads = threads
        text = re.split(r" (?:deps|descs) ", operation.text.partition(operation.name)[2], maxsplit=1)[0]
        self._head = text.rpartition(" : ")[0] or text
        unique = {name.partition("@")[0]: name for name in operation.operands}
        self._unique = unique
        self._plain = [unique.get(name, name) for name in _VALUE.findall(_BRACKETS.sub("", self._head))]

    def read(self) -> Action | None:
        operation, name = self._operation, self._operation.name
        position = _PREDICATES.get(name, len(self._plain))
        if position < len(self._plain) and not self._integer(self._plain[position]):
            return None
        kind = _KINDS[name]
        written = _WRITTEN.get(name)
        signals = tuple(self._memory(each) for each in self._signals())
        ends = [place for place in (_SIGNALS.get(name, (99, 0))[0], position) if place < len(self._plain)]
        data = self._plain[: min(ends, default=len(self._plain))]
        return Action(
            "access" if kind == "product" and not signals and "is_async" not in operation.text else kind,
            operation,
            signals,
            self._number(kind),
            reads=self._views(each for index, each in enumerate(data) if index != written),
            writes=self._views(data[written : written + 1] if written is not None else ()),
            is_async="isAsync = true" in operation.text,
            is_counted=name == "ttng.async_copy_mbarrier_arrive" and "noIncrement" not in operation.text,
        )

    def _signals(self) -> Sequence[str]:
        first, end = _SIGNALS.get(self._operation.name, (0, 0))
        predicates = {
            self._unique.get(one, one): self._unique.get(other, other)
            for one, other in _SIGNAL_PREDICATE.findall(self._head)
        }
        return [
            each
            for each in self._plain[first:end]
            if each not in predicates or end is not None or self._integer(predicates[each])
        ]

    def _number(self, kind: Kind) -> int:
        operation = self._operation
        if kind == "wait":
            return self._integer(self._plain[1]) & 1 if len(self._plain) > 1 else 0
        if kind == "copy":
            return self._bytes()
        pattern = _PENDINGS if kind == "drain" else _NUMBER
        found = pattern.search(operation.text)
        if kind == "arrive" and "perThread" in operation.text:
            raise NotEvaluated(operation.line, "arrivals of single threads are not modelled")
        return int(found[1]) if found else 0

    def _bytes(self) -> int:
        """Return the bytes that arrive, or the threads that arrive when their copies are done."""
        if self._operation.name == "ttng.async_copy_mbarrier_arrive":
            return self._threads
        if self._operation.name == "ttng.clc_try_cancel":
            return _CANCELED_BYTES
        for shape, bits in reversed(_SHAPE.findall(self._operation.text)):
            if (shape, bits) != ("1x", "64"):
                return prod(int(size) for size in shape[:-1].split("x")) * int(bits) // 8
        raise NotEvaluated(self._operation.line, "the size of the copy cannot be read")

    def _integer(self, name: str) -> int:
        return integer(self._operation, self._value_of(name))

    def _memory(self, name: str) -> Memory:
        value = self._value_of(name)
        if isinstance(value, Memory):
            return value
        integer(self._operation, value)
        raise NotEvaluated(self._operation.line, "an operand is no mbarrier")

    def _views(self, names: Iterable[str]) -> tuple[Memory, ...]:
        return tuple(value for name in names if isinstance(value := self._value_of(name), Memory))
