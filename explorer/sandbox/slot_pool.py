"""The slots of each Triton version, and the jobs that wait for them.

Each Triton version has a pool of slots. A thread owns each slot: it starts the slot, gives it one job after
another, and replaces it after a number of jobs or after any failure. A jail dies with the thread that started
it, so these threads live as long as the pool.
"""

from __future__ import annotations

import itertools
import logging
import queue
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from explorer.errors import QueueFull, SandboxUnavailable, UnknownTriton
from explorer.model import Event, Progress, Request
from explorer.monitoring.metrics import sandbox_replacements
from explorer.monitoring.traces import span
from explorer.monitoring.work_context import WorkContext, current_work_context, working_for
from explorer.sandbox.disassemblers import Disassemblers
from explorer.sandbox.errors import SlotBroken
from explorer.sandbox.jail import Jail
from explorer.sandbox.launcher import Launcher
from explorer.sandbox.slot import Slot
from explorer.sandbox.versions import InstalledVersions

_log = logging.getLogger(__name__)

_ALIVE_LOOK_SECONDS = 2.0
_RESTART_SECONDS = 5.0
_TRIES = 2


@dataclass(eq=False)
class SandboxJob:
    """A request that waits for a slot or executes in a slot, and the received events.

    A job that `yields` has a lower priority.
    """

    request: Request
    cancelled: threading.Event
    yields: bool = False
    abandoned: threading.Event = field(default_factory=threading.Event)
    events: queue.SimpleQueue[Event | SandboxUnavailable] = field(default_factory=queue.SimpleQueue)
    has_results: bool = False
    tries: int = 0
    context: WorkContext = field(default_factory=current_work_context)

    def is_cancelled(self) -> bool:
        """Return whether the result is no longer needed."""
        return self.cancelled.is_set() or self.abandoned.is_set()

    def deliver(self, event: Event) -> None:
        """Pass on an event."""
        self.has_results = self.has_results or not isinstance(event, Progress)
        self.events.put(event)


@dataclass(frozen=True)
class PoolState:
    """The slots of a Triton version by state, and whether the version has a zygote in a shared jail."""

    version: str
    starting: int
    idle: int
    busy: int
    has_zygote: bool


class VersionPools:
    """The pools of all Triton versions, whose jails start in one way. The first job creates a pool."""

    def __init__(self, launcher: Launcher, installed: InstalledVersions, shares_jail: bool) -> None:
        self.launcher = launcher
        self.disassemblers = Disassemblers(launcher)
        self._installed = installed
        self._newest = next(iter(installed.now), "")
        self._jail = Jail(launcher, launcher.settings.entry_point) if shares_jail else None
        self._lock = threading.Lock()
        #: Each pool, with the identity of its folder, which tells it from a replacement.
        self._pools: dict[str, tuple[SlotPool, object]] = {}

    @property
    def shares_jail(self) -> bool:
        """Whether the slots of all versions share one jail."""
        return self._jail is not None

    def of(self, version: str) -> SlotPool:
        """Return the pool of a version.

        Raises:
            UnknownTriton: the version has been removed.
        """
        with self._lock:
            try:
                folder = self._installed.now[version]
                state = folder and (folder.stat().st_ino, folder.stat().st_mtime_ns)
            except (KeyError, OSError) as error:
                raise UnknownTriton(f"Triton {version} has just been removed.") from error
            pool, former = self._pools.get(version, (None, None))
            if pool is not None and former != state:
                # Modules from the removed folder cannot import the rest from its replacement.
                pool.close()
                pool.join()
                pool = None
            if pool is None:
                pool = self._make(version, folder)
                self._pools[version] = pool, state
            return pool

    def states(self) -> list[PoolState]:
        """Return the state of each pool."""
        return [pool.state() for pool, _ in list(self._pools.values())]

    def close(self) -> None:
        """Kill all jobs."""
        for pool, _ in self._pools.values():
            pool.close()
        if self._jail is not None:
            self._jail.interrupt()

    def join(self) -> None:
        """Wait for the end of all jails."""
        for pool, _ in self._pools.values():
            pool.join()
        if self._jail is not None:
            self._jail.close()
        self.disassemblers.close()

    def _make(self, version: str, folder: Path | None) -> SlotPool:
        settings = self.launcher.settings
        kept = settings.slots_per_version if settings.warm_up and version == self._newest else 0
        return SlotPool(self.launcher, version, folder, self._jail, self.disassemblers, kept)


class SlotPool:
    """The slots of one Triton version, and the jobs that wait for a slot."""

    def __init__(
        self,
        launcher: Launcher,
        version: str,
        folder: Path | None,
        jail: Jail | None,
        disassemblers: Disassemblers,
        kept: int,
    ) -> None:
        """`jail` is shared by the slots; without it, each has its own. `kept` slots do not end when idle."""
        self._launcher = launcher
        self._jail = jail
        self._disassemblers = disassemblers
        self._kept = kept
        self._settings = launcher.settings
        self._version = version
        self._folder = folder
        self._changed = threading.Condition()
        self._waiting: deque[SandboxJob] = deque()
        self._running: set[SandboxJob] = set()
        self._threads: list[threading.Thread] = []
        self._jobs = 0
        self._idle = 0
        self._starting = 0
        self._closed = False
        self._numbers = itertools.count()
        self._replacements = sandbox_replacements.labels(version)

    def enter(self, job: SandboxJob) -> None:
        """Queue a job.

        Raises:
            SandboxUnavailable: the pool is closed.
            QueueFull: too many jobs are waiting.
        """
        with self._changed:
            if self._closed:
                raise SandboxUnavailable("The sandbox has been closed.")
            if len(self._waiting) >= self._settings.queue_length:
                raise QueueFull(
                    f"The queue is full: {len(self._waiting)} jobs are waiting. Try again in a few seconds."
                )
            self._waiting.append(job)
            self._jobs += 1
            if len(self._waiting) > self._idle + self._starting:
                self._grow()
            self._changed.notify_all()

    def withdraw(self, job: SandboxJob) -> bool:
        """Remove a job from the queue. Return False if the job is not in the queue."""
        with self._changed:
            if job not in self._waiting:
                return False
            self._waiting.remove(job)
            return True

    def leave(self, job: SandboxJob) -> None:
        """Note that no caller waits for a job."""
        with self._changed:
            self._jobs -= 1
        self.withdraw(job)

    def begin(self) -> None:
        """Start a slot."""
        with self._changed:
            self._grow()

    def grow_to(self, count: int) -> None:
        """Start one more slot if there are fewer than `count`, and wait until no slot is starting."""
        with self._changed:
            if len(self._threads) < count:
                self._grow()
            self._changed.wait_for(lambda: self._starting == 0 or self._closed)

    def state(self) -> PoolState:
        """Return the number of slots in each state."""
        has_zygote = self._jail is not None and self._jail.has_started(self._folder)
        return PoolState(self._version, self._starting, self._idle, len(self._running), has_zygote)

    def close(self) -> None:
        """End all jobs, and accept no further jobs."""
        with self._changed:
            self._closed = True
            for job in self._waiting:
                job.events.put(SandboxUnavailable("The sandbox has been closed."))
            self._waiting.clear()
            for job in self._running.copy():
                job.abandoned.set()
            self._changed.notify_all()

    def join(self) -> None:
        """Wait for the end of the slots."""
        for thread in self._threads.copy():
            thread.join()
        if self._jail is not None:
            self._jail.end_unused(self._folder)

    def _grow(self) -> None:
        """Start one more thread with its slot, if the limit allows it."""
        limit = self._settings.slots_per_version
        if self._jobs > limit:
            limit += self._settings.reserve_slots
        if self._closed or len(self._threads) >= limit:
            return
        self._starting += 1
        name = f"sandbox-{self._version}-{next(self._numbers)}"
        thread = threading.Thread(target=self._keep_slot, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _keep_slot(self) -> None:
        """Own one slot after another, and give it jobs, until the pool is closed."""
        is_first = True
        while not self._closed:
            if not is_first:
                with self._changed:
                    self._starting += 1
            is_first = False
            slot = self._start_slot()
            with self._changed:
                self._starting -= 1
                self._changed.notify_all()
                if slot is None:
                    self._changed.wait_for(lambda: self._closed, timeout=_RESTART_SECONDS)
            if slot is not None:
                try:
                    self._feed(slot)
                finally:
                    slot.close()
                if slot.jobs_done == self._settings.jobs_per_slot == 1:
                    self._leave_to_others()
            if threading.current_thread() not in self._threads:
                if self._jail is not None:
                    self._jail.end_unused(self._folder)
                return

    def _leave_to_others(self) -> None:
        """End this thread, whose slot has had its only job, if other threads suffice for the waiting jobs."""
        with self._changed:
            if len(self._waiting) <= self._idle + self._starting:
                self._threads.remove(threading.current_thread())
                self._changed.notify_all()

    def _start_slot(self) -> Slot | None:
        try:
            try:
                return self._make_slot()
            except SlotBroken:
                if self._jail is None:
                    raise
            return self._make_slot()  # The jail was being killed.
        except (SlotBroken, OSError) as error:
            if not self._closed:
                _log.error("A sandbox for Triton %s did not start: %s", self._version, error)
            with self._changed:
                if self._starting == 1 and self._idle == 0:  # No other thread will execute these jobs.
                    for job in self._waiting:
                        job.events.put(
                            SandboxUnavailable(
                                f"The sandbox for Triton {self._version} did not start: {error}"
                            )
                        )
                    self._waiting.clear()
            return None

    def _make_slot(self) -> Slot:
        entry_point = self._settings.entry_point
        return Slot(self._launcher, self._folder, entry_point, self._jail, self._disassemblers)

    def _feed(self, slot: Slot) -> None:
        """Give jobs to a slot for as long as the slot works."""
        while slot.jobs_done < self._settings.jobs_per_slot:
            job = self._take(slot)
            if job is None:
                return
            try:
                self._running.add(job)
                with working_for(job.context), span("sandbox", triton=self._version):
                    slot.run(job.request, job.is_cancelled, job.deliver, yields=job.yields)
                if slot.jobs_done < self._settings.jobs_per_slot:
                    slot.next()
            except SlotBroken as error:
                if not self._closed:  # closing ends the slot, too
                    self._replacements.inc()
                    with working_for(job.context):
                        _log.warning("Replacing a sandbox for Triton %s: %s", self._version, error)
                self._recover(job)
                return
            finally:
                self._running.discard(job)

    def _take(self, slot: Slot) -> SandboxJob | None:
        """Wait for a job. Return None if the pool was closed, or the slot died or is not needed any more."""
        idle_end = time.monotonic() + self._settings.idle_seconds
        with self._changed:
            self._idle += 1
            try:
                while not self._closed:
                    if not slot.is_alive():
                        self._replacements.inc()
                        _log.warning("An idle sandbox for Triton %s ended unexpectedly", self._version)
                        return None
                    if self._waiting:
                        if self._settings.jobs_per_slot == 1 and self._idle == 1:
                            self._grow()  # The next slot starts during this job.
                        return self._waiting.popleft()
                    if time.monotonic() > idle_end and len(self._threads) > self._kept:
                        self._threads.remove(threading.current_thread())
                        return None
                    self._changed.wait(min(_ALIVE_LOOK_SECONDS, self._settings.idle_seconds))
                return None
            finally:
                self._idle -= 1

    def _recover(self, job: SandboxJob) -> None:
        """Retry `job` once after its slot broke, unless events other than progress were delivered."""
        job.tries += 1
        with self._changed:
            if not job.has_results and job.tries < _TRIES and not self._closed:
                self._waiting.appendleft(job)
                self._changed.notify_all()
                return
        job.events.put(SandboxUnavailable("The sandbox failed and was restarted during this job."))
