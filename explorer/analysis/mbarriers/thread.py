"""A thread of control of a program: all its warps, or the warps of a partition.

In: a region and the known values in it. Out: its actions, in order. The caller, which iterates, decides when
the next action begins.

Source: the printers of the dialects scf, cf, ttg and ttng, Triton 3.6 and 3.9.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field

from explorer.analysis.mbarriers.actions import Action, integer, is_action, read_action
from explorer.analysis.mbarriers.values import (
    Memory,
    NotEvaluated,
    TooLong,
    Unknown,
    Value,
    evaluate,
    unknown_of,
)
from explorer.analysis.mlir.operations import Block, Operation, Region

#: Views of the same bytes. A slice is left out: two of them may have no byte in common.
_VIEWS = ("ttg.memdesc_trans", "ttg.memdesc_reshape", "ttg.memdesc_reinterpret")
_CALLS = ("tt.call", "call")
_ALLOCATIONS = ("ttg.local_alloc", "ttng.tmem_alloc")
_TENSOR = re.compile(r" : .*\btensor<")
_AXIS = re.compile(r"tt\.get_(?:program_id|num_programs) (?:\{[^{}]*\} )?([xyz])\b")
_NUM_WARPS = re.compile(r"\bnum_warps\((\d{1,3})\)")
_MOST_OPERATIONS = 80_000
_WARP_THREADS = 32


@dataclass(eq=False)
class Program:
    """The state that the threads of a program share.

    `lines` are the lines of the module, `values` the values of the function by name. `known` has the
    arguments of the kernel, and the sizes of the grid as "num_programs x".
    """

    lines: Sequence[str]
    values: dict[str, Value]
    known: Mapping[str, int]
    _operations: int = 0
    _relevant: dict[int, list[Operation]] = field(default_factory=dict)
    _silent: dict[int, bool] = field(default_factory=dict)

    def count(self) -> None:
        """Count an operation.

        Raises:
            TooLong: there were too many.
        """
        self._operations += 1
        if self._operations > _MOST_OPERATIONS:
            raise TooLong

    def relevant(self, block: Block) -> list[Operation]:
        """Return the operations of a block that act, or that may decide something. Tensors decide nothing."""
        found = self._relevant.get(id(block))
        if found is None:
            found = self._relevant[id(block)] = [each for each in block.operations if self._is_relevant(each)]
        return found

    def is_silent(self, operation: Operation) -> bool:
        """Return whether no operation inside acts, or specializes warps."""
        found = self._silent.get(id(operation))
        if found is None:
            found = self._silent[id(operation)] = not any(
                is_action(each) or each.name == "ttg.warp_specialize" for each in operation.walk()
            )
        return found

    def _is_relevant(self, operation: Operation) -> bool:
        if operation.regions:
            return bool(operation.results) or not self.is_silent(operation)
        if operation.name.startswith("ttng.") or operation.name in (*_ALLOCATIONS, *_CALLS):
            return True
        return bool(operation.results) and not _TENSOR.search(operation.text)


@dataclass(frozen=True)
class Partitions:
    """The partitions of a `ttg.warp_specialize`: they begin, or, with `is_end`, the thread joins them."""

    operation: Operation
    threads: tuple[Walker, ...]
    is_end: bool


Steps = Generator[Action | Partitions, None, list[Value]]


@dataclass(eq=False)
class Walker:
    """Evaluates the operations of a region, and yields its actions."""

    title: str
    line: int
    num_warps: int
    region: Region
    program: Program

    def steps(self) -> Steps:
        """Yield the actions of the region.

        Raises:
            ArgumentNeeded: the next action depends on an argument without a value.
            NotEvaluated: the next action is not known.
            TooLong: it takes too many operations.
        """
        return self._run(self.region)

    def _run(self, region: Region) -> Steps:
        """Execute a region; return the values that its terminator passes on."""
        blocks = {block.label: block for block in region.blocks}
        block = region.blocks[0]
        while True:
            for operation in self.program.relevant(block):
                self.program.count()
                yield from self._execute(operation)
            last = block.operations[-1] if block.operations else None
            if last is None or not last.successors:
                return [self._value(name) for name in last.operands] if last is not None else []
            self.program.count()
            label, passed = self._successor(last)
            values = [self._value(name) for name in passed]
            if label not in blocks:
                raise NotEvaluated(last.line, "it branches to a block that the text does not have")
            block = blocks[label]
            self._assign(block.arguments, values)

    def _successor(self, branch: Operation) -> tuple[str, tuple[str, ...]]:
        if len(branch.successors) == 1:
            return branch.successors[0]
        if branch.name != "cf.cond_br" or not branch.operands:
            raise NotEvaluated(branch.line, f"`{branch.name}` is not modelled")
        is_true = integer(branch, self._value(branch.operands[0]))
        return branch.successors[0 if is_true else 1]

    def _execute(self, operation: Operation) -> Steps:
        name = operation.name
        if is_action(operation):
            action = read_action(operation, self._value, self.num_warps * _WARP_THREADS)
            if action is not None:
                yield action
            self._define(operation, Unknown(operation.line, name))
        elif name == "scf.for":
            yield from self._for(operation)
        elif name == "scf.if":
            yield from self._if(operation)
        elif name == "scf.while":
            yield from self._while(operation)
        elif name == "ttg.warp_specialize":
            yield from self._specialize(operation)
        elif operation.regions or name in _CALLS:
            passed = [self._value(each) for each in operation.operands]
            if not self.program.is_silent(operation) or any(isinstance(each, Memory) for each in passed):
                raise NotEvaluated(operation.line, f"`{name}` is not modelled")
            self._define(operation, Unknown(operation.line, name))
        else:
            self._define(operation, self._result(operation))
        return []

    def _for(self, loop: Operation) -> Steps:
        bounds = [self._value(name) for name in loop.own_operands[:3]]
        carried = [self._value(name) for name in loop.initial]
        if len(bounds) < 3 or not loop.regions:
            raise NotEvaluated(loop.line, "its bounds or its region cannot be read")
        if self.program.is_silent(loop) and not all(isinstance(each, int) for each in bounds):
            self._define(loop, unknown_of(loop, bounds))
            return []
        low, high, step = (integer(loop, each) for each in bounds)
        if step <= 0:
            raise NotEvaluated(loop.line, f"its step is {step}")
        arguments = loop.regions[0].blocks[0].arguments
        for turn in range(low, high, step):
            self.program.count()
            self._assign(arguments, [turn, *carried])
            carried = yield from self._run(loop.regions[0])
        self._assign(loop.results, carried)
        return []

    def _if(self, branch: Operation) -> Steps:
        condition = self._value(branch.own_operands[0]) if branch.own_operands else Unknown(0, "")
        if isinstance(condition, Unknown) and self.program.is_silent(branch):
            self._define(branch, condition)
            return []
        taken = 0 if integer(branch, condition) else 1
        if taken < len(branch.regions):
            self._assign(branch.results, (yield from self._run(branch.regions[taken])))
        return []

    def _while(self, loop: Operation) -> Steps:
        if len(loop.regions) != 2:
            raise NotEvaluated(loop.line, "its regions cannot be read")
        before, after = loop.regions
        carried = [self._value(name) for name in loop.initial]
        while True:
            self.program.count()
            self._assign(before.blocks[0].arguments, carried)
            condition, *passed = (yield from self._run(before)) or [Unknown(loop.line, loop.name)]
            if isinstance(condition, Unknown) and self.program.is_silent(loop):
                self._define(loop, condition)
                return []
            if not integer(loop, condition):
                self._assign(loop.results, passed)
                return []
            self._assign(after.blocks[0].arguments, passed)
            carried = yield from self._run(after)

    def _specialize(self, operation: Operation) -> Steps:
        default, *regions = operation.printed_regions or [Region([Block("", 0)], 0, 0)]
        captured = [self._value(name) for name in operation.operands]
        threads = []
        for region in regions:
            self._assign(region.blocks[0].arguments, captured)
            found = _NUM_WARPS.search(self.program.lines[region.first_line - 1])
            warps = int(found[1]) if found else 0
            threads.append(Walker(region.title, region.first_line, warps, region, self.program))
        yield Partitions(operation, tuple(threads), is_end=False)
        self._assign(operation.results, (yield from self._run(default)))
        yield Partitions(operation, tuple(threads), is_end=True)
        return []

    def _value(self, name: str) -> Value:
        return self.program.values.get(name, Unknown(0, name))

    def _assign(self, names: Sequence[str], values: Sequence[Value]) -> None:
        self.program.values.update(zip(names, values, strict=False))

    def _define(self, operation: Operation, value: Value) -> None:
        self._assign(operation.results, [value] * len(operation.results))

    def _result(self, operation: Operation) -> Value:
        """Return the value of an operation without a region.

        Raises:
            NotEvaluated: the operation uses an mbarrier in an unknown way.
        """
        name = operation.name
        operands = [self._value(each) for each in operation.operands]
        if name.startswith("arith."):
            return evaluate(operation, operands)
        if name in _ALLOCATIONS:
            return Memory(operation.line)
        if name in _VIEWS and operands:
            return operands[0]
        if name == "ttg.memdesc_index" and len(operands) == 2:
            source, index = operands
            if isinstance(source, Memory) and isinstance(index, int):
                return Memory(source.root, (*source.path, index))
            return unknown_of(operation, operands)
        if name.startswith("ttng.") and "<1xi64, " in operation.text:
            raise NotEvaluated(operation.line, f"what `{name}` does to an mbarrier is not modelled")
        if name == "tt.get_program_id":
            return 0
        if name == "tt.get_num_programs" and (axis := _AXIS.search(operation.text)):
            size = f"num_programs {axis[1]}"
            return self.program.known[size] if size in self.program.known else Unknown(0, name, size)
        return Unknown(operation.line, name)
