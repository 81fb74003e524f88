"""The schedule of pipelined loops.

In: a module between the pass that schedules loops and the pass that pipelines them. Out: its loops, and for
each operation with a schedule its stage and its cluster.

With `last_stage` S, a turn t of the pipelined loop executes stage s of iteration t + S - s: the last stage of
iteration t, and the first stage of iteration t + S. The S turns before the loop, the prologue, execute the
stages that belong to the iterations 0 to S - 1. Within a turn, operations are in the order of their
clusters, and in a cluster in the order of the text.

Source: Schedule.cpp (shrinkToFit, createFinalSchedule), PipelineExpander.cpp and LowerLoops.cpp of Triton,
3.6 and 3.9. LowerLoops.cpp waits for a matrix product of Blackwell `tt.self_latency` stages after its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from explorer.analysis.layouts.global_access import bytes_of_element
from explorer.analysis.mlir.operations import Function, Operation, read_functions

_ATTRIBUTE = re.compile(r"\b(loop\.stage|loop\.cluster|tt\.self_latency|tt\.num_stages) = (\d{1,9})\b")
_BOUNDS = re.compile(r"= (%[\w$.-]+) to (%[\w$.-]+) step (%[\w$.-]+)")
_INTEGER = re.compile(r" = arith\.constant (?:\{[^}]*\} )?(-?\d{1,18})(?: |$)")
#: An attribute of a product whose result the text waits for already, as in a partition.
_ASYNCHRONOUS = re.compile(r"\bis_async\b")
#: The type of a load: the last one of its text.
_LOADED = re.compile(r"(?::|->) (?:tensor<)?((?:\d+x)*)(?:!tt\.ptr<)?(\w+)")
_LOADS = ("tt.load", "tt.descriptor_load")
_MATRIX_PRODUCTS = (
    "tt.dot",
    "tt.dot_scaled",
    "ttng.warp_group_dot",
    "ttng.tc_gen5_mma",
    "ttng.tc_gen5_mma_scaled",
)


@dataclass(frozen=True)
class ScheduledOperation:
    """An operation of a loop's body with its stage and cluster, from 0. `line` is its first line, from 1.

    In a turn of the pipelined loop, operations are in the order of `cluster`, then of the text. `stage`
    counts from the first stage that the loop has. `waited_in` is the stage that waits for the result, if that
    is not the stage of an operation that uses it; None: no such wait.
    """

    line: int
    operation: str
    text: str
    stage: int
    cluster: int
    waited_in: int | None


@dataclass(frozen=True)
class Loop:
    """An `scf.for` from `line` to `end_line`, inside of `depth` other loops.

    `partition` is the region of `ttg.warp_specialize` that it is in; "": none. `operations` are those with a
    schedule, in the order of the text; `unscheduled` counts the others of the body. `num_stages` is the
    loop's own attribute, and `iterations` is known where the bounds are constants. `chained_loads` of the
    `loads` need a value that an earlier turn loads. A turn that executes `waiting_loads` uses their values,
    which are `waiting_bytes` of the `loaded_bytes`.
    """

    function: str
    line: int
    end_line: int
    depth: int
    partition: str
    operations: tuple[ScheduledOperation, ...]
    unscheduled: int
    num_stages: int | None
    iterations: int | None
    has_inner_loop: bool
    has_matrix_product: bool
    loads: int
    chained_loads: int
    waiting_loads: int
    waiting_bytes: int
    loaded_bytes: int

    @property
    def last_stage(self) -> int:
        """The number of turns before the loop; 0 if nothing is executed ahead."""
        return max((each.waited_in or each.stage for each in self.operations), default=0)


def read_loops(text: str) -> list[Loop]:
    """Return the loops of a module, in the order of the text."""
    return [loop for function in read_functions(text) for loop in _loops(function)]


def _loops(function: Function) -> Iterator[Loop]:
    constants = {
        operation.results[0]: int(found[1])
        for operation in function.operations
        if operation.results and (found := _INTEGER.search(operation.text))
    }
    loops = [each for each in function.operations if each.name == "scf.for"]
    for operation in sorted(loops, key=lambda each: each.line):
        yield _loop(function, operation, constants)


def _loop(function: Function, loop: Operation, constants: dict[str, int]) -> Loop:
    body = [each for region in loop.regions for each in region.operations if each.name != "scf.yield"]
    scheduled = [(each, attributes) for each in body if "loop.stage" in (attributes := _attributes(each))]
    first = min((attributes["loop.stage"] for _, attributes in scheduled), default=0)
    inside = [each for each in loop.walk() if each is not loop]
    loads = [each for each in inside if each.name in _LOADS]
    waiting = _waiting(body)
    return Loop(
        function=function.name,
        line=loop.line,
        end_line=loop.end_line,
        depth=sum(each.name in ("scf.for", "scf.while") for each in _holders(loop)),
        partition=_partition(loop),
        operations=tuple(_scheduled(each, attributes, first) for each, attributes in scheduled),
        unscheduled=len(body) - len(scheduled),
        num_stages=_attributes(loop).get("tt.num_stages"),
        iterations=_iterations(loop, constants),
        has_inner_loop=any(each.name in ("scf.for", "scf.while") for each in inside),
        has_matrix_product=any(each.name in _MATRIX_PRODUCTS for each in inside),
        loads=len(loads),
        chained_loads=_chained_loads(loop, inside),
        waiting_loads=len(waiting),
        waiting_bytes=sum(map(_loaded_bytes, waiting)),
        loaded_bytes=sum(map(_loaded_bytes, loads)),
    )


def _waiting(body: list[Operation]) -> list[Operation]:
    """Return the loads whose values an operation of the same stage uses."""
    stages = [(_attributes(each).get("loop.stage"), each) for each in body]
    used = {(stage, name) for stage, each in stages for one in each.walk() for name in one.operands}
    return [
        one
        for stage, each in stages
        for one in each.walk()
        if one.name in _LOADS and any((stage, name) in used for name in one.results)
    ]


def _loaded_bytes(load: Operation) -> int:
    """Return the bytes of the value of a load."""
    sizes, element = [("", ""), *_LOADED.findall(load.text)][-1]
    return math.prod(int(size) for size in sizes.split("x") if size) * bytes_of_element(element)


def _chained_loads(loop: Operation, inside: list[Operation]) -> int:
    """Count the loads whose operands need a value that an earlier turn of the loop loads."""
    carried = {
        argument: value
        for region in loop.regions[:1]
        for last in region.blocks[0].operations[-1:]
        for argument, value in zip(region.blocks[0].arguments[1:], last.operands, strict=False)
    }
    makers = {result: each for each in inside for result in each.results}

    def needs(values: Iterable[str], links: dict[str, str]) -> set[str]:
        """Return what values of a turn are made from; `links` lead to earlier turns."""
        found: set[str] = set()
        left = list(values)
        while left:
            if (value := left.pop()) in found:
                continue
            found.add(value)
            if value in links:
                left.append(links[value])
            if value in makers:
                left += (name for each in makers[value].walk() for name in each.operands)
        return found

    def is_chained(load: Operation) -> bool:
        before = needs((carried[each] for each in needs(load.operands, {}) if each in carried), carried)
        return any(each.name in _LOADS for name in before & makers.keys() for each in makers[name].walk())

    return sum(each.name in _LOADS and is_chained(each) for each in inside)


def _attributes(operation: Operation) -> dict[str, int]:
    # The last line of an operation with regions ends it: attributes in its first line belong to the same
    # operation.
    return {name: int(value) for name, value in _ATTRIBUTE.findall(operation.whole_text)}


def _scheduled(operation: Operation, attributes: dict[str, int], first: int) -> ScheduledOperation:
    stage = attributes["loop.stage"] - first
    is_waited_for = _ASYNCHRONOUS.search(operation.whole_text) is not None
    latency = 0 if is_waited_for else attributes.get("tt.self_latency", 0)
    return ScheduledOperation(
        operation.line,
        operation.name,
        operation.text,
        stage,
        attributes.get("loop.cluster", 0),
        stage + latency if latency else None,
    )


def _holders(operation: Operation) -> Iterator[Operation]:
    while (parent := operation.parent) is not None:
        yield parent
        operation = parent


def _partition(loop: Operation) -> str:
    inner = loop
    for holder in _holders(loop):
        if holder.name.startswith("ttg.warp_specialize"):
            regions = [
                region for region in holder.regions if region.first_line <= inner.line <= region.last_line
            ]
            return regions[0].title if regions else ""
        inner = holder
    return ""


def _iterations(loop: Operation, constants: dict[str, int]) -> int | None:
    bounds = _BOUNDS.search(loop.text)
    values = [constants.get(name) for name in bounds.groups()] if bounds else []
    if len(values) != 3 or None in values:
        return None
    low, high, step = (value for value in values if value is not None)
    return max(0, -(-(high - low) // step)) if step > 0 else None
