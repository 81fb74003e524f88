"""The health of the slots of a server: whether a kernel has gone through every kind of slot lately.

Jobs show it. If no kernel has gone through for half of the allowed time, a canary does: the compilation or
run of a vector add, directly in the sandbox, without the queue and the store. A canary that fails, or does
not end in time, is repeated.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from explorer.errors import ExplorerError
from explorer.examples import find_example
from explorer.jobs.gpu import GpuRunner
from explorer.jobs.runners import RunnerKind, Runners, SandboxRunner
from explorer.model import Request, Run
from explorer.model.hardware import DEFAULT_TARGET

_EXAMPLE = "vector_add"
#: The device of a run on each kind of runner; the other kinds compile.
_DEVICES: dict[RunnerKind, Literal["interpreter", "gpu"]] = {"interpreter": "interpreter", "gpu": "gpu"}
_LOOK_SECONDS = 0.5
_log = logging.getLogger(__name__)

SlotState = Literal["ok", "starting", "failing"]


class SlotHealth(msgspec.Struct, frozen=True):
    """The health of one kind of slot: of a device or GPU, with a Triton version.

    `last_success_seconds` is how long ago a kernel was compiled or run; null: never. `problem` says why the
    slot is failing.
    """

    kind: RunnerKind
    name: str
    triton: str
    state: SlotState
    last_success_seconds: float | None
    problem: str | None


def problem_of_slots(slots: Sequence[SlotHealth]) -> str | None:
    """Return why a kind of slot does not work, or None. One working GPU is enough."""
    working = {slot.kind for slot in slots if slot.kind == "gpu" and slot.state != "failing"}
    for slot in slots:
        if slot.state == "failing" and slot.kind not in working:
            return f"The slot {slot.name} with Triton {slot.triton} does not work: {slot.problem}"
    return None


@dataclass(frozen=True)
class _Slot:
    """A kind of slot, and its runner."""

    kind: RunnerKind
    name: str
    runner: SandboxRunner | GpuRunner
    triton: str

    @property
    def wall_seconds(self) -> float:
        """The longest time of a job."""
        return self.runner.sandbox.settings.limits.most_wall_seconds


class Health:
    """Watches the slots of runners. Canaries run in the background, unless `most_seconds` is 0.

    A kernel has to go through every kind of slot within `most_seconds`, plus the time limit of a running job.
    """

    def __init__(
        self,
        runners: Runners,
        versions: Callable[[], tuple[str, ...]],
        most_seconds: float,
        target_of_gpu: str | None = None,
    ) -> None:
        self._runners = runners
        self._versions = versions
        self._most_seconds = most_seconds
        self._target_of_gpu = target_of_gpu or DEFAULT_TARGET
        self._begin = time.monotonic()
        self._closed = threading.Event()
        #: The running canaries, with the events that cancel them.
        self._canaries: dict[_Slot, threading.Event] = {}
        self._changing = threading.Lock()
        self._thread: threading.Thread | None = None
        if most_seconds:
            self._thread = threading.Thread(target=self._look, name="health", daemon=True)
            self._thread.start()

    @property
    def has_canaries(self) -> bool:
        """Whether slots are tested while they have no jobs."""
        return self._thread is not None

    def slots(self) -> list[SlotHealth]:
        """Return the health of each kind of slot."""
        return [self._health(slot) for slot in self._slots()]

    def close(self) -> None:
        self._closed.set()
        if self._thread is not None:
            self._thread.join()
        with self._changing:
            canaries = tuple(self._canaries.values())
        for cancelled in canaries:
            cancelled.set()

    def _slots(self) -> Iterator[_Slot]:
        versions = self._versions()
        for kind, runners in self._runners.items():
            for runner in dict.fromkeys(runners):
                if isinstance(runner, GpuRunner):
                    yield from (_Slot(kind, runner.gpu.uuid, runner, each) for each in versions[:1])
                elif isinstance(runner, SandboxRunner) and kind != "torch_compile":
                    shown = versions if kind == "compile" else versions[:1]
                    yield from (_Slot(kind, kind, runner, each) for each in shown)
                elif isinstance(runner, SandboxRunner) and runner.sandbox.tier != "none":
                    yield from (_Slot(kind, kind, runner, each) for each in versions[:1])

    def _health(self, slot: _Slot) -> SlotHealth:
        now, activity = time.monotonic(), slot.runner.activity
        success = activity.last_success(slot.triton)
        seconds = None if success is None else now - success
        allowed = self._most_seconds + (slot.wall_seconds if self._has_job(slot) else 0)
        state: SlotState = "ok"
        problem = slot.runner.problem
        if problem is not None:
            state = "failing"
        elif self.has_canaries and now - (success or self._begin) > allowed:
            state = "failing"
            problem = activity.problem(slot.triton) or "No kernel has been compiled or run."
        elif self.has_canaries and success is None:
            state = "starting"
        return SlotHealth(slot.kind, slot.name, slot.triton, state, seconds, problem)

    def _has_job(self, slot: _Slot) -> bool:
        """Return whether a job runs, beside a canary."""
        return slot.runner.activity.running(slot.triton) > (slot in self._canaries)

    # --- canaries ---------------------------------------------------------------------------------

    def _look(self) -> None:
        while not self._closed.wait(min(_LOOK_SECONDS, self._most_seconds / 10)):
            try:
                self._start_canaries()
            except Exception:  # the thread must survive
                _log.exception("The slots are not tested because of an unexpected error")

    def _start_canaries(self) -> None:
        for slot in self._slots():
            success = slot.runner.activity.last_success(slot.triton)
            is_due = success is None or time.monotonic() - success > self._most_seconds / 2
            is_free = not (isinstance(slot.runner, GpuRunner) and self._has_job(slot))
            if is_due and is_free and slot.runner.problem is None and slot not in self._canaries:
                cancelled = threading.Event()
                with self._changing:
                    self._canaries[slot] = cancelled
                threading.Thread(
                    target=self._run_canary, args=(slot, cancelled), name=f"canary-{slot.kind}", daemon=True
                ).start()

    def _run_canary(self, slot: _Slot, cancelled: threading.Event) -> None:
        try:
            self._try(slot, cancelled)
        except Exception:  # the canary is repeated
            _log.exception("A canary failed with an unexpected error")
        finally:
            with self._changing:
                del self._canaries[slot]

    def _try(self, slot: _Slot, cancelled: threading.Event) -> None:
        """Compile or run a kernel in a slot, and note a problem."""
        activity = slot.runner.activity
        deadline = threading.Timer(self._most_seconds / 2, cancelled.set)
        deadline.daemon = True
        deadline.start()
        try:
            for _ in slot.runner.run(self._request(slot), cancelled):
                pass
            if isinstance(slot.runner, GpuRunner):
                slot.runner.settle(self._closed)
        except ExplorerError as error:
            activity.note_problem(slot.triton, error.detail)
            self._closed.wait(self._most_seconds / 2)  # a refused canary is not repeated at once
        finally:
            deadline.cancel()
        if self._closed.is_set():
            return
        if cancelled.is_set():
            problem = f"The test compilation did not end within {self._most_seconds / 2:g} seconds."
            activity.note_problem(slot.triton, problem)
        if problem := activity.problem(slot.triton):
            _log.warning("The slot %s with Triton %s does not work: %s", slot.name, slot.triton, problem)

    def _request(self, slot: _Slot) -> Request:
        example = find_example(_EXAMPLE)
        assert example is not None
        target = self._target_of_gpu if slot.kind == "gpu" else DEFAULT_TARGET
        device = _DEVICES.get(slot.kind)
        if device is None:
            return Request(example.source, target, slot.triton)
        return Request(example.source, target, slot.triton, task="run", run=Run(device, measures=("check",)))
