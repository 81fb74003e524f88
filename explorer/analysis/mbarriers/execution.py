"""An execution of one program of a kernel, from its final TTGIR: the phases of its mbarriers in steps.

In: the text of a module, and the values of scalar arguments and of the grid, as far as a launch gives them.
Out: an order of the actions of its threads that the mbarriers permit. Only scalars are evaluated. The program
has the index 0 in each dimension. A step is not a duration: durations are not known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from explorer.analysis.mbarriers.machine import Barrier, Finding, Machine, OperationInFlight, Order, Thread
from explorer.analysis.mbarriers.thread import Program, Walker
from explorer.analysis.mbarriers.values import ArgumentNeeded, Memory, NotEvaluated, Unknown, Value
from explorer.analysis.mlir.operations import Function, read_functions, shown_name

_NUM_WARPS = re.compile(r'"ttg\.num-warps" = (\d{1,3}) ')
_NUM_CTAS = re.compile(r'"ttg\.num-ctas" = (\d{1,3}) ')
_SCALAR_ARGUMENT = re.compile(r"(%[\w$.-]+): (?:i\d{1,2}|index)\b")
#: The assumed value of an argument, and of a number of programs, that no launch gives.
_ASSUMED_ARGUMENT = 512
_ASSUMED_PROGRAMS = 1
_MOST_ASSUMED = 64
#: Orders that reveal more operations that no wait orders.
_LATE: tuple[Order, ...] = ("oldest", "newest")


@dataclass(frozen=True)
class AssumedValue:
    """The value of an argument, or of "num_programs x", that control depends on and no launch gives."""

    name: str
    value: int


@dataclass(frozen=True)
class Execution:
    """The actions of the threads in `steps` steps, of which the first `recorded_steps` are recorded.

    `names` are the first results, and `operations` the operations, by line. `assumed` are the values that no
    launch gives and that control depends on. `is_cut`: there would be more steps than are executed.
    """

    steps: int
    recorded_steps: int
    is_cut: bool
    threads: list[Thread]
    barriers: list[Barrier]
    in_flight: list[OperationInFlight]
    findings: list[Finding]
    names: dict[int, str]
    operations: dict[int, str]
    assumed: tuple[AssumedValue, ...]

    def shown(self, memory: Memory) -> str:
        """Return a view of memory as the text names it, such as "%a[2]"."""
        name = shown_name(self.names.get(memory.root, ""))
        return name + "".join(f"[{index}]" for index in memory.path)


def execute(
    text: str, arguments: Mapping[str, int], grid: Mapping[str, int], most_recorded: int
) -> Execution | None:
    """Execute the first function that initializes an mbarrier; None: there is none.

    `arguments` are integers by the names of parameters, and `grid` the number of programs by "x", "y", "z".

    Raises:
        NotEvaluated: control depends on a value that is not known, or an operation is not modelled.
    """
    function = next((each for each in read_functions(text) if _has_mbarriers(each)), None)
    if function is None:
        return None
    clusters = _NUM_CTAS.search(text)
    if clusters and int(clusters[1]) > 1:
        raise NotEvaluated(function.operation.line, f"a program of {clusters[1]} blocks is not modelled")
    known = {**arguments, **{f"num_programs {axis}": size for axis, size in grid.items()}}
    assumed: dict[str, int] = {}
    while True:
        try:
            machine = _run(text, function, {**known, **assumed}, most_recorded)
            late = [_run(text, function, {**known, **assumed}, 0, order) for order in _LATE]
            break
        except ArgumentNeeded as needed:
            if needed.name in assumed or len(assumed) == _MOST_ASSUMED:
                raise NotEvaluated(function.operation.line, f"`{needed.name}` is not known") from needed
            is_size = needed.name.startswith("num_programs ")
            assumed[needed.name] = _ASSUMED_PROGRAMS if is_size else _ASSUMED_ARGUMENT
    findings = dict.fromkeys(machine.findings)
    findings |= {each: None for other in late for each in other.findings if each.kind != "deadlock"}
    return Execution(
        machine.step,
        min(machine.step, most_recorded),
        machine.is_cut,
        machine.threads,
        machine.barriers,
        machine.in_flight,
        list(findings),
        {each.line: each.results[0] for each in function.operations if each.results},
        {each.line: each.name for each in function.operations},
        tuple(AssumedValue(*each) for each in assumed.items()),
    )


def _has_mbarriers(function: Function) -> bool:
    return any(each.name in ("ttng.init_barrier", "ttg.warp_specialize") for each in function.operations)


def _run(
    text: str, function: Function, known: Mapping[str, int], most_recorded: int, order: Order = "in steps"
) -> Machine:
    lines = text.split("\n")
    operation = function.operation
    values: dict[str, Value] = {}
    for name in _SCALAR_ARGUMENT.findall(lines[operation.line - 1]):
        parameter = name.removeprefix("%")
        values[name] = known[parameter] if parameter in known else Unknown(0, name, parameter)
    warps = _NUM_WARPS.search(text)
    is_specialized = any(each.name == "ttg.warp_specialize" for each in function.operations)
    main = Walker(
        "default" if is_specialized else "program",
        operation.line,
        int(warps[1]) if warps else 0,
        operation.regions[0],
        Program(lines, values, known),
    )
    machine = Machine(main, most_recorded, order)
    machine.run()
    return machine
