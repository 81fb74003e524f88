"""The slots of each Triton version, which are lent for one job at a time.

A job is executed by the thread that borrows a slot. Slots are started, prepared for their next job and
replaced in the background. Nothing queues here: the caller decides which job is next.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from explorer.errors import SandboxUnavailable, UnknownTriton
from explorer.monitoring.metrics import sandbox_replacements
from explorer.sandbox.disassemblers import Disassemblers
from explorer.sandbox.errors import SlotBroken
from explorer.sandbox.jail import Jail
from explorer.sandbox.launcher import Launcher
from explorer.sandbox.slot import Slot
from explorer.sandbox.versions import InstalledVersions

_log = logging.getLogger(__name__)

_LOOK_SECONDS = 2.0
_CANCEL_LOOK_SECONDS = 0.2
_CLOSE_SECONDS = 5.0


@dataclass(frozen=True)
class PoolState:
    """The slots of a Triton version by state, and whether the version has a zygote in a shared jail.

    `keeping` slots keep the process of a script.
    """

    version: str
    starting: int
    idle: int
    busy: int
    keeping: int
    has_zygote: bool


@dataclass(frozen=True)
class ScriptKey:
    """What identifies the process of a script: with its target, and for all targets of the vendor."""

    for_target: str
    for_vendor: str


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
        self._closed = threading.Event()
        self._looking = threading.Thread(target=self._look, name="sandbox-slots", daemon=True)
        self._looking.start()

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
        return [pool.state() for pool, _ in list(self._pools.values())]

    def close(self) -> None:
        self._closed.set()
        for pool, _ in self._pools.values():
            pool.close()
        if self._jail is not None:
            self._jail.interrupt()

    def join(self) -> None:
        """Wait for the end of all jails."""
        self._looking.join()
        for pool, _ in self._pools.values():
            pool.join()
        if self._jail is not None:
            self._jail.close()
        self.disassemblers.close()

    def _look(self) -> None:
        """Look at the idle slots regularly."""
        while not self._closed.wait(min(_LOOK_SECONDS, self.launcher.settings.idle_seconds)):
            for pool, _ in list(self._pools.values()):
                pool.look()

    def _make(self, version: str, folder: Path | None) -> SlotPool:
        settings = self.launcher.settings
        permanent = settings.slots_per_version if settings.warm_up and version == self._newest else 0
        return SlotPool(self.launcher, version, folder, self._jail, self.disassemblers, permanent)


class SlotPool:
    """The slots of one Triton version."""

    def __init__(
        self,
        launcher: Launcher,
        version: str,
        folder: Path | None,
        jail: Jail | None,
        disassemblers: Disassemblers,
        permanent: int,
    ) -> None:
        """`jail` is shared by the slots; without it, each has its own. `permanent` slots stay when idle."""
        self._launcher = launcher
        self._jail = jail
        self._disassemblers = disassemblers
        self._permanent = permanent
        self._settings = launcher.settings
        self._version = version
        self._folder = folder
        self._changed = threading.Condition()
        #: The idle slots, with the time since when; the slot that was used last is last.
        self._idle: list[tuple[Slot, float]] = []
        self._busy: set[Slot] = set()
        #: The slots that keep the process of a script, by a field of the script's key, with the time since
        #: when and the memory in use, in bytes; the slot that was used last is last.
        self._keeping: dict[str, tuple[Slot, float, int]] = {}
        #: The scripts whose process may stay, as soon as its job has been cleaned up.
        self._parking: set[ScriptKey] = set()
        #: The slots that keep the process of a script, or do a later job of it. They are not counted.
        self._with_script: set[Slot] = set()
        #: The number of slots that are being started, or prepared for their next job.
        self._starting = 0
        #: The number of callers that wait for a slot.
        self._waiting = 0
        self._failures = 0
        self._problem = ""
        self._closed = False
        most = self._settings.slots_per_version + self._settings.reserve_slots
        self._background = ThreadPoolExecutor(most, f"sandbox-{version}")
        self._replacements = sandbox_replacements.labels(version)

    @property
    def is_closed(self) -> bool:
        """Whether the jobs end."""
        return self._closed

    @property
    def keeps_scripts(self) -> bool:
        """Whether processes of scripts stay for later jobs. A jail of its own would stay with the process."""
        return self._settings.limits.leaves_copies and self._jail is not None

    @contextmanager
    def slot(
        self, is_cancelled: Callable[[], bool], script: ScriptKey | None = None
    ) -> Iterator[Slot | None]:
        """Lend a slot, or None if the job is cancelled first.

        `script` identifies what the job executes before its own work. The slot that keeps its process is
        preferred.

        Raises:
            SandboxUnavailable: the pool is closed, or no slot starts.
        """
        slot = self._take_kept(script, is_cancelled) or self._obtain(is_cancelled)
        if slot is None:
            yield None
            return
        is_broken = False
        try:
            yield slot
        except SlotBroken as error:
            is_broken = True
            if not self._closed and slot not in self._with_script:
                self._note_replacement(error)
            raise
        finally:
            self._give_back(slot, script, is_broken=is_broken)

    def begin(self) -> None:
        self.grow_to(self._settings.slots_per_version, waits=False)

    def grow_to(self, count: int, *, waits: bool = True) -> None:
        """Start one more slot if there are fewer than `count`.

        With `waits`, wait until no slot is starting.
        """
        with self._changed:
            if self._count() < count:
                self._start_in_background()
            if waits:
                self._changed.wait_for(lambda: self._starting == 0 or self._closed)

    def state(self) -> PoolState:
        """Return the number of slots in each state."""
        has_zygote = self._jail is not None and self._jail.has_started(self._folder)
        keeping = len(self._keeping)
        return PoolState(self._version, self._starting, len(self._idle), len(self._busy), keeping, has_zygote)

    def look(self) -> None:
        """Replace the idle slots that have ended, and end slots that nobody has used for long."""
        now = time.monotonic()
        with self._changed:
            most_seconds = self._settings.kept_script_seconds
            ended = self._forget_scripts(
                lambda slot, since: not slot.is_alive() or now - since > most_seconds
            )
            for slot, since in self._idle.copy():
                if not slot.is_alive():
                    self._replace(slot)
                elif now - since > self._settings.idle_seconds and self._count() > self._permanent:
                    ended.append(slot)
                else:
                    continue
                self._idle.remove((slot, since))
        for slot in ended:
            self._end(slot)

    def close(self) -> None:
        """End all jobs, and lend no further slots."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def join(self) -> None:
        self._background.shutdown()
        with self._changed:
            self._changed.wait_for(lambda: not self._busy, _CLOSE_SECONDS)
            unused = [slot for slot, _ in self._idle] + self._forget_scripts(lambda _slot, _since: True)
            self._idle = []
        for slot in unused:
            slot.close()
        for slot in self._busy.copy():  # nobody reads the events of its job
            slot.end_jail()
        if self._jail is not None:
            self._jail.end_unused(self._folder)

    def _count(self) -> int:
        return len(self._idle) + len(self._busy - self._with_script) + self._starting

    def _obtain(self, is_cancelled: Callable[[], bool]) -> Slot | None:
        """Wait for a slot, and start one if there are too few."""
        with self._changed:
            self._waiting += 1
            try:
                failures = self._failures
                while not is_cancelled() or self._closed:
                    if self._closed:
                        raise SandboxUnavailable("The sandbox has been closed.")
                    if (slot := self._take_idle()) is not None:
                        return slot
                    if self._failures > failures and not self._count():
                        raise SandboxUnavailable(self._problem)
                    if self._failures == failures and self._starting < self._waiting:
                        self._grow(len(self._busy) + self._waiting)
                    self._changed.wait(_CANCEL_LOOK_SECONDS)
                return None
            finally:
                self._waiting -= 1

    def _take_idle(self) -> Slot | None:
        """Take the idle slot that was used last, for a caller that waits."""
        while self._idle:
            slot, _ = self._idle.pop()
            if slot.is_alive():
                self._busy.add(slot)
                if self._settings.jobs_per_slot == 1 and not self._idle and not self._starting:
                    self._grow(len(self._busy) + self._waiting - 1)  # The next slot starts during this job.
                return slot
            self._replace(slot)
        return None

    def _take_kept(self, script: ScriptKey | None, is_cancelled: Callable[[], bool]) -> Slot | None:
        """Take the slot that keeps the process of a script, if there is one."""
        if script is None:
            return None
        with self._changed:
            while self._parks(script) and not is_cancelled():
                self._changed.wait(_CANCEL_LOOK_SECONDS)
            key = script.for_vendor if script.for_vendor in self._keeping else script.for_target
            slot, _, _ = self._keeping.pop(key, (None, 0.0, 0))
            if slot is None:
                return None
            self._busy.add(slot)
        if slot.is_alive():
            return slot
        self._give_back(slot, None, is_broken=True)
        return None

    def _parks(self, script: ScriptKey) -> bool:
        """Return whether the process of the script may soon stay, for any target of the vendor."""
        return any(each.for_vendor == script.for_vendor for each in self._parking)

    def _keep(self, slot: Slot, script: ScriptKey) -> bool:
        """Keep a slot for later jobs of its script, if the process of the script stays."""
        used_bytes, serves_vendor = slot.wait_until_parked()
        key = script.for_vendor if serves_vendor else script.for_target
        most_bytes = self._settings.kept_scripts_bytes
        ended: list[Slot] = []
        with self._changed:
            self._parking.discard(script)
            self._changed.notify_all()
            stays = 0 < used_bytes <= most_bytes and not self._closed and key not in self._keeping
            if stays:
                self._with_script.add(slot)
                self._keeping[key] = slot, time.monotonic(), used_bytes
                while (
                    len(self._keeping) > self._settings.kept_scripts
                    or sum(used for _, _, used in self._keeping.values()) > most_bytes
                ):
                    oldest, _, _ = self._keeping.pop(next(iter(self._keeping)))
                    ended.append(oldest)
        for each in ended:
            self._end(each)
        return stays

    def _forget_scripts(self, is_over: Callable[[Slot, float], bool]) -> list[Slot]:
        """Remove the slots that keep a process, if `is_over` for the slot and the time since when."""
        over = {key: slot for key, (slot, since, _) in self._keeping.items() if is_over(slot, since)}
        for key in over:
            del self._keeping[key]
        return list(over.values())

    def _end(self, slot: Slot) -> None:
        """End a slot, and the zygote of the version with its last slot."""
        slot.close()
        with self._changed:
            self._with_script.discard(slot)
        if self._jail is not None:
            self._jail.end_unused(self._folder)

    def _replace(self, slot: Slot) -> None:
        """Start another slot in the place of an idle slot that has ended."""
        self._note_replacement("an idle sandbox ended unexpectedly")
        if not self._closed:
            self._background.submit(slot.close)
        self._start_in_background()

    def _give_back(self, slot: Slot, script: ScriptKey | None, *, is_broken: bool) -> None:
        with self._changed:
            self._busy.discard(slot)
            self._changed.notify_all()
            if not self._closed:
                if slot.may_stay and script is not None:
                    self._parking.add(script)
                if slot not in self._with_script:
                    self._starting += 1
                self._background.submit(self._prepare, slot, script, is_broken=is_broken)
                return
        slot.close()

    def _prepare(self, slot: Slot, script: ScriptKey | None, *, is_broken: bool) -> None:
        """Prepare a slot for its next job, keep it for its script, or replace it."""
        is_extra = slot in self._with_script
        if slot.may_stay and script is not None and self._keep(slot, script):
            if not is_extra:
                self._start()
            return
        if is_extra:
            self._end(slot)
            return
        if not is_broken and not self._closed and slot.jobs_done < self._settings.jobs_per_slot:
            try:
                slot.next()
            except SlotBroken as error:
                if not self._closed:
                    self._note_replacement(error)
            else:
                self._add(slot)
                return
        slot.close()
        with self._changed:
            others = len(self._idle) + self._starting - 1
            is_needed = not self._closed and (self._settings.jobs_per_slot > 1 or self._waiting > others)
            if not is_needed:
                self._starting -= 1
                self._changed.notify_all()
        if is_needed:
            self._start()
        elif self._jail is not None:
            self._jail.end_unused(self._folder)

    def _grow(self, jobs: int) -> None:
        """Start one more slot, if the limit allows it. With more `jobs` than slots, the reserve is used."""
        limit = self._settings.slots_per_version
        if jobs > limit:
            limit += self._settings.reserve_slots
        if self._count() < limit:
            self._start_in_background()

    def _start_in_background(self) -> None:
        if not self._closed:
            self._starting += 1
            self._background.submit(self._start)

    def _start(self) -> None:
        try:
            try:
                slot = self._make_slot()
            except SlotBroken:
                if self._jail is None:
                    raise
                slot = self._make_slot()  # The jail was being killed.
        except (SlotBroken, OSError) as error:
            if not self._closed:
                _log.error("A sandbox for Triton %s did not start: %s", self._version, error)
            with self._changed:
                self._starting -= 1
                self._failures += 1
                self._problem = f"The sandbox for Triton {self._version} did not start: {error}"
                self._changed.notify_all()
        else:
            self._add(slot)

    def _add(self, slot: Slot) -> None:
        with self._changed:
            self._starting -= 1
            self._idle.append((slot, time.monotonic()))
            self._changed.notify_all()

    def _make_slot(self) -> Slot:
        entry_point = self._settings.entry_point
        return Slot(self._launcher, self._folder, entry_point, self._jail, self._disassemblers)

    def _note_replacement(self, reason: object) -> None:
        self._replacements.inc()
        _log.warning("Replacing a sandbox for Triton %s: %s", self._version, reason)
