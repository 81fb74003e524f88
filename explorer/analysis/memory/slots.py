"""The slot of a pipelined buffer that a value refers to.

A pipeline divides a buffer into slots (`ttg.memdesc_index`) and goes around them with a counter, which is
carried through the loop and returns to 0 behind the last slot.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from explorer.analysis.mlir.operations import Block, Function, Operation

_CONSTANT = re.compile(r"arith\.constant (-?\d{1,18}) :")
_COUNT = re.compile(r": !ttg\.memdesc<(\d{1,9})x")
_BACK_TO_ZERO = re.compile(r"arith\.cmpi (?:sge|uge|eq), ")
_DEEPEST = 12


@dataclass(frozen=True)
class Slot:
    """Slot `number` of `count`; with `loop`, its header, the number in the present iteration of the loop.

    In each iteration the number of an operation's slot is the next one, and the slot of an earlier access
    is one less in terms of the present iteration.
    """

    number: int
    count: int
    loop: Block | None = None

    def moved(self, by: int) -> Slot:
        return Slot((self.number + by) % self.count, self.count, self.loop)


class Slots:
    """The slots of the values of a function."""

    def __init__(self, function: Function) -> None:
        self._defining = {value: each for each in function.operations for value in each.results}
        self._incoming: dict[str, list[str]] = {}
        self._blocks: dict[str, Block] = {}
        for operation in function.operations:
            for region in operation.regions:
                blocks = {block.label: block for block in region.blocks}
                for block in region.blocks:
                    self._blocks.update(dict.fromkeys(block.arguments, block))
                    for label, passed in block.operations[-1].successors if block.operations else ():
                        arguments = blocks[label].arguments if label in blocks else ()
                        for argument, value in zip(arguments, passed, strict=False):
                            self._incoming.setdefault(argument, []).append(value)

    def of(self, value: str) -> Slot | None:
        """Return the slot that a value refers to, or a part of it (None: unknown)."""
        for _ in range(_DEEPEST):
            operation = self._defining.get(value)
            if operation is None or not operation.name.startswith("ttg.memdesc_") or not operation.operands:
                return None
            if operation.name == "ttg.memdesc_index":
                return self._indexed(operation)
            value = operation.operands[0]
        return None

    def _indexed(self, operation: Operation) -> Slot | None:
        count = _COUNT.search(operation.text)
        source = self._defining.get(operation.operands[0])
        if not count or len(operation.operands) != 2 or source is None or source.name != "ttg.local_alloc":
            return None
        slots = int(count[1])
        root, offset = self._sum(operation.operands[1], slots)
        if not root:
            return Slot(offset, slots) if 0 <= offset < slots else None
        incoming = {self._sum(value, slots) for value in self._incoming.get(root, ())}
        first = next((number for base, number in incoming if not base), None)
        if first is None or incoming != {("", first), (root, 1)}:
            return None
        return Slot((first + offset) % slots, slots, self._blocks[root])

    def _sum(self, value: str, slots: int, depth: int = _DEEPEST) -> tuple[str, int]:
        """Return a value and a number whose sum is `value`, modulo the number of slots ("": no value)."""
        operation = self._defining.get(value)
        if operation is None or not depth:
            return value, 0
        constant = _CONSTANT.search(operation.text)
        if constant:
            return "", int(constant[1])
        name, operands = operation.name, operation.operands
        if name == "arith.addi" and len(operands) == 2:
            (one, number), (other, more) = (self._sum(each, slots, depth - 1) for each in operands)
            if not one or not other:
                return one or other, number + more
        elif name in ("arith.remsi", "arith.remui") and self._is(operands[1], slots):
            return self._sum(operands[0], slots, depth - 1)
        elif name == "arith.select" and len(operands) == 3 and self._is(operands[1], 0):
            compared = self._defining.get(operands[0])
            if (
                compared is not None
                and _BACK_TO_ZERO.search(compared.text)
                and compared.operands[0] == operands[2]
                and self._is(compared.operands[1], slots)
            ):
                return self._sum(operands[2], slots, depth - 1)
        return value, 0

    def _is(self, value: str, number: int) -> bool:
        operation = self._defining.get(value)
        found = _CONSTANT.search(operation.text) if operation else None
        return found is not None and int(found[1]) == number
