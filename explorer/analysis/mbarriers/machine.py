"""The mbarriers of a block, the units that arrive at them, and the order in which threads continue.

In: the threads of a program. Out: the action of each thread in each step, the phases of the mbarriers, and
the errors. A step is not a time. In each step, every thread that need not wait does its next action, then
each unit completes the oldest operation that began in an earlier step. In the orders "oldest" and "newest" an
operation completes only when no thread can continue, and the oldest or newest copy completes first, so that a
missing wait becomes visible.

An mbarrier completes a phase when no arrival is pending and all expected bytes have come. It then expects
its count again. A wait for a parity ends when the current phase has the other parity.

Source: the section on mbarriers of the PTX manual. The matrix unit completes in order, as tcgen05 does; that
copies complete in order is a choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from explorer.analysis.mbarriers.actions import Action
from explorer.analysis.mbarriers.thread import Partitions, Steps, Walker
from explorer.analysis.mbarriers.values import Memory, NotEvaluated, TooLong
from explorer.analysis.mlir.operations import Operation

Unit = Literal["copies", "products"]
Order = Literal["in steps", "oldest", "newest"]
_UNITS: tuple[Unit, ...] = ("copies", "products")
_MOST_STEPS = 100_000
_MOST_FINDINGS = 20


@dataclass(frozen=True)
class BarrierState:
    """The state of an mbarrier from `step` on: its phase from 0, pending arrivals, and bytes still expected.

    `line` is the operation that changed the state, executed by the thread or the unit `by`.
    """

    step: int
    phase: int
    pending: int
    bytes: int
    line: int
    by: str


@dataclass(eq=False)
class Barrier:
    """An mbarrier from its initialization in `line`, with `count` arrivals, to the step `end`.

    `waiters` and `arrivers` are the titles of threads and units, `copied` the memory that
    copies fill, with the operation that starts them.
    """

    memory: Memory
    line: int
    count: int
    states: list[BarrierState]
    end: int | None = None
    pending: int = 0
    bytes: int = 0
    phase: int = 0
    waiters: dict[str, None] = field(default_factory=dict)
    arrivers: dict[str, None] = field(default_factory=dict)
    copied: dict[Memory, Operation] = field(default_factory=dict)


@dataclass(frozen=True)
class ThreadSpan:
    """An action of a thread in the steps from `first` to before `end`, all but the last of them waiting.

    `barrier` is the index of the mbarrier that it waits for or arrives at, or None. `parity` is the parity of
    a wait. `is_endless`: the wait does not end.
    """

    first: int
    end: int
    line: int
    barrier: int | None
    parity: int | None
    is_endless: bool


@dataclass(eq=False)
class Thread:
    """A thread with its actions. `line` is the first line of its region."""

    title: str
    line: int
    num_warps: int
    steps: Steps
    spans: list[ThreadSpan] = field(default_factory=list)
    next: Action | Partitions | None = None
    since: int = 0
    is_done: bool = False
    #: Products of warp groups that read shared memory until a later operation waits for them.
    products: list[Action] = field(default_factory=list)


@dataclass(frozen=True)
class OperationInFlight:
    """An operation of a unit from the step `first`, in which it began, to before `end`."""

    unit: Unit
    first: int
    end: int
    line: int
    barrier: int | None
    bytes: int


@dataclass(frozen=True)
class Finding:
    """An error at `line`. `other_line` is the other operation that takes part in it, or 0."""

    kind: Literal["deadlock", "early read", "early write", "too many arrivals"]
    line: int
    other_line: int
    thread: str
    memory: Memory
    barrier: int | None = None
    parity: int | None = None


@dataclass(eq=False)
class _Running:
    unit: Unit
    action: Action
    thread: Thread
    began: int


class Machine:
    """Executes threads, and records the first `most_recorded` steps.

    `step` is the number of executed steps. `is_cut`: the execution stopped at the limit of steps.
    """

    def __init__(self, main: Walker, most_recorded: int, order: Order = "in steps") -> None:
        self.threads = [Thread(main.title, main.line, main.num_warps, main.steps())]
        self.barriers: list[Barrier] = []
        self.in_flight: list[OperationInFlight] = []
        self.findings: list[Finding] = []
        self.step = -1
        self.is_cut = False
        self._by_walker: dict[int, Thread] = {}
        self._most_recorded = most_recorded
        self._order = order
        self._current: dict[Memory, int] = {}
        self._queues: dict[Unit, list[_Running]] = {unit: [] for unit in _UNITS}

    def run(self) -> None:
        """Execute the threads until all have ended, none can continue, or they take too long.

        Raises:
            ArgumentNeeded: the next action depends on an argument without a value.
            NotEvaluated: the next action is not known.
        """
        try:
            self._execute()
        except TooLong:
            self.is_cut = True
            return
        for thread in self.threads:
            if not thread.is_done:
                self._report_deadlock(thread)

    def _execute(self) -> None:
        self._fetch(self.threads[0])
        self.step = 0
        while self.step < _MOST_STEPS:
            has_moved = False
            for thread in list(self.threads):
                has_moved |= self._advance(thread)
            if self._order == "in steps":
                for unit in _UNITS:
                    has_moved |= self._complete(unit)
            elif not has_moved:
                has_moved = self._complete_late()
            is_over = not has_moved and not any(self._queues.values())
            if is_over and all(thread.is_done for thread in self.threads):
                return
            self.step += 1
            if is_over:
                return
        raise TooLong

    # --- threads --------------------------------------------------------------------------------

    def _fetch(self, thread: Thread) -> None:
        """Find the next action; execute the actions that take no step."""
        while True:
            thread.next = next(thread.steps, None)
            thread.since = self.step + 1
            if thread.next is None:
                thread.is_done = True
                return
            if isinstance(thread.next, Partitions):
                if thread.next.is_end:
                    return
                for walker in thread.next.threads:
                    self._start(walker)
            elif thread.next.kind == "init":
                self._initialize(thread, thread.next)
            elif thread.next.kind == "invalidate":
                self._barrier(thread.next).end = self.step + 1
            else:
                return

    def _start(self, walker: Walker) -> None:
        known = [each for each in self.threads if each.line == walker.line]
        if known:
            thread = known[0]
            thread.steps, thread.is_done = walker.steps(), False
        else:
            thread = Thread(walker.title, walker.line, walker.num_warps, walker.steps())
            self.threads.append(thread)
        self._by_walker[id(walker)] = thread
        self._fetch(thread)

    def _advance(self, thread: Thread) -> bool:
        """Let a thread do its next action; return whether it could."""
        action = thread.next
        if action is None or thread.since > self.step:
            return False
        if isinstance(action, Partitions):
            if not all(self._by_walker[id(each)].is_done for each in action.threads):
                return False
            self._record(thread, action.operation.line, None, None)
        else:
            if action.kind == "wait" and not self._is_over(action):
                return False
            self._do(thread, action)
            barrier = self._index(action.signals[0]) if action.signals else None
            parity = action.number if action.kind == "wait" else None
            self._record(thread, action.operation.line, barrier, parity)
        self._fetch(thread)
        return True

    def _record(self, thread: Thread, line: int, barrier: int | None, parity: int | None) -> None:
        if thread.since < self._most_recorded:
            thread.spans.append(ThreadSpan(thread.since, self.step + 1, line, barrier, parity, False))

    def _do(self, thread: Thread, action: Action) -> None:
        self._check(thread, action)
        title = thread.title
        if action.kind == "wait":
            self._barrier(action).waiters[title] = None
        elif action.kind == "expect":
            barrier = self._barrier(action)
            barrier.bytes += action.number
            self._arrive(barrier, 1, action, title)
        elif action.kind == "arrive":
            self._arrive(self._barrier(action), action.number, action, title)
        elif action.kind in ("copy", "product", "commit"):
            unit: Unit = "copies" if action.kind == "copy" else "products"
            for memory in action.signals:
                barrier = self.barriers[self._index(memory)]
                barrier.copied.update(
                    dict.fromkeys(action.writes if unit == "copies" else (), action.operation)
                )
                barrier.pending += action.number if action.is_counted else 0
            self._queues[unit].append(_Running(unit, action, thread, self.step))
        elif action.kind == "drain":
            thread.products = thread.products[len(thread.products) - action.number :] if action.number else []
        elif action.is_async:
            thread.products.append(action)

    # --- units ----------------------------------------------------------------------------------

    def _complete(self, unit: Unit) -> bool:
        """Complete the oldest operation of a unit that began in an earlier step, and commits behind it."""
        queue = self._queues[unit]
        done = 0
        while done < len(queue) and queue[done].began < self.step:
            if done and queue[done].action.kind != "commit":
                break
            self._finish(queue[done])
            done += 1
        del queue[:done]
        return done > 0

    def _complete_late(self) -> bool:
        copies, products = self._queues["copies"], self._queues["products"]
        if not copies and not products:
            return False
        if not copies or (products and products[0].began < copies[0].began and self._order == "oldest"):
            self._finish(products.pop(0))
        else:
            self._finish(copies.pop(0 if self._order == "oldest" else -1))
        return True

    def _finish(self, operation: _Running) -> None:
        action = operation.action
        if operation.began < self._most_recorded:
            index = self._index(action.signals[0]) if action.signals else None
            size = action.number if action.kind == "copy" and action.writes else 0
            line = action.operation.line
            began, end = operation.began, self.step + 1
            self.in_flight.append(OperationInFlight(operation.unit, began, end, line, index, size))
        for memory in action.signals:
            barrier = self.barriers[self._index(memory)]
            if action.kind != "copy":
                self._arrive(barrier, 1, action, operation.unit)
            elif action.writes:
                barrier.bytes -= action.number
                self._arrive(barrier, 0, action, operation.unit)
            else:
                self._arrive(barrier, action.number, action, operation.unit)

    # --- mbarriers ------------------------------------------------------------------------------

    def _initialize(self, thread: Thread, action: Action) -> None:
        memory = self._signal(action)
        line, count = action.operation.line, action.number
        self._current[memory] = len(self.barriers)
        state = BarrierState(self.step + 1, 0, count, 0, line, thread.title)
        self.barriers.append(Barrier(memory, line, count, [state], pending=count))

    def _index(self, memory: Memory) -> int:
        if memory not in self._current:
            raise NotEvaluated(memory.root, "an mbarrier of this allocation is used and not initialized")
        return self._current[memory]

    def _signal(self, action: Action) -> Memory:
        if not action.signals:
            raise NotEvaluated(action.operation.line, "its mbarrier cannot be read")
        return action.signals[0]

    def _barrier(self, action: Action) -> Barrier:
        return self.barriers[self._index(self._signal(action))]

    def _is_over(self, action: Action) -> bool:
        return self._barrier(action).phase % 2 != action.number

    def _arrive(self, barrier: Barrier, count: int, action: Action, by: str) -> None:
        barrier.arrivers[by] = None
        if count > barrier.pending:
            self._find(Finding("too many arrivals", action.operation.line, barrier.line, by, barrier.memory))
        barrier.pending = max(0, barrier.pending - count)
        self._note(barrier, action, by)
        if barrier.pending == 0 and barrier.bytes == 0:
            barrier.phase += 1
            barrier.pending = barrier.count
            self._note(barrier, action, by)

    def _note(self, barrier: Barrier, action: Action, by: str) -> None:
        # The state is seen from the next step on.
        if self.step < self._most_recorded:
            state = BarrierState(
                self.step + 1, barrier.phase, barrier.pending, barrier.bytes, action.operation.line, by
            )
            if barrier.states[-1].step == state.step:
                barrier.states.pop()
            barrier.states.append(state)

    # --- findings -------------------------------------------------------------------------------

    def _check(self, thread: Thread, action: Action) -> None:
        """Find memory that is read before it is written, or written while it is read."""
        for running in self._queues["copies"]:
            for memory in running.action.writes:
                if any(memory.overlaps(each) for each in (*action.reads, *action.writes)):
                    self._find_hazard(
                        "early read" if action.kind != "copy" else "early write",
                        action,
                        running.action,
                        thread,
                        memory,
                    )
        for pending in self._pending_products(action):
            for memory in pending.reads:
                if any(memory.overlaps(each) for each in action.writes):
                    self._find_hazard("early write", action, pending, thread, memory)
            for memory in pending.writes:
                if action.kind != "product" and any(memory.overlaps(each) for each in action.reads):
                    self._find_hazard("early read", action, pending, thread, memory)

    def _pending_products(self, action: Action) -> Iterator[Action]:
        # The matrix unit executes its operations in order.
        if action.kind != "product":
            yield from (running.action for running in self._queues["products"])
        for thread in self.threads:
            yield from thread.products

    def _find_hazard(
        self,
        kind: Literal["early read", "early write"],
        action: Action,
        other: Action,
        thread: Thread,
        memory: Memory,
    ) -> None:
        self._find(Finding(kind, action.operation.line, other.operation.line, thread.title, memory))

    def _report_deadlock(self, thread: Thread) -> None:
        action = thread.next
        if isinstance(action, Action):
            memory, line = self._signal(action), action.operation.line
            index = self._index(memory)
            made = self.barriers[index].line
            self._find(Finding("deadlock", line, made, thread.title, memory, index, action.number))
            if thread.since < self._most_recorded:
                thread.spans.append(ThreadSpan(thread.since, self.step, line, index, action.number, True))

    def _find(self, finding: Finding) -> None:
        if finding not in self.findings and len(self.findings) < _MOST_FINDINGS:
            self.findings.append(finding)
