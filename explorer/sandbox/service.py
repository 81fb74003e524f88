"""The sandbox service: a request in, validated events out.

The service chooses a way to start jails that withstands a test, and gives each request to the pool of its
Triton version.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

from explorer.errors import SandboxUnavailable, UnknownTriton
from explorer.model import CANCELED, Diagnostic, Done, Event, Progress, Request, to_plain
from explorer.monitoring.traces import add_span
from explorer.sandbox import control_group, landlock
from explorer.sandbox.errors import SlotBroken
from explorer.sandbox.installation_advice import installation_advice
from explorer.sandbox.launcher import Launcher, find_bubblewrap, launchers
from explorer.sandbox.priority import yields
from explorer.sandbox.self_test import attack
from explorer.sandbox.settings import Limits, SandboxSettings
from explorer.sandbox.slot_pool import PoolState, ScriptKey, SlotPool, VersionPools
from explorer.sandbox.versions import InstalledVersions

_log = logging.getLogger(__name__)

NOBODY_MUST_READ = (
    "Started by root without a jail, user code runs as nobody (65534), who must be able to read the "
    "interpreter and its packages. Start the service as an ordinary user."
)


class Sandbox:
    """Executes requests. Thread-safe. Call `start` once, after the last fork."""

    def __init__(self, settings: SandboxSettings | None = None) -> None:
        self.settings = settings or SandboxSettings()
        #: The program that makes the jails; None if it is missing or not used.
        self.bubblewrap = None if self.settings.unsafe else find_bubblewrap(self.settings)
        self._installed = InstalledVersions(self.settings.tritons_dir, self.settings.offered_tritons)
        self._lock = threading.Lock()
        self._pools: VersionPools | None = None
        self._begun: VersionPools | None = None
        self._tier = "none"
        self._problem = "The sandbox has not been started."
        self._started = threading.Event()
        self._closed = False

    @property
    def versions(self) -> tuple[str, ...]:
        """The available Triton versions, newest first. Later additions and removals are noticed."""
        return tuple(self._installed.now)

    @property
    def tier(self) -> str:
        """The isolation in use: "full", "unsafe" (resource limits and system call filter only) or "none"."""
        return self._tier

    @property
    def landlock_abi(self) -> int:
        """The version of Landlock's interface that jails use beside their mounts, or 0."""
        return 0 if self.settings.unsafe else landlock.abi()

    @property
    def has_control_groups(self) -> bool:
        """Whether the kernel limits the memory of each jail, too (see `control_group`)."""
        return not self.settings.unsafe and control_group.are_available()

    @property
    def disassemblers(self) -> tuple[list[str], str]:
        """The architectures that have a warm disassembler, and why jobs may have to start nvdisasm."""
        pools = self._pools or self._begun
        return ([], "") if pools is None else (pools.disassemblers.ready, pools.disassemblers.problem)

    def pool_states(self) -> list[PoolState]:
        """Return the state of the slots of each Triton version in use."""
        pools = self._pools
        return [] if pools is None else pools.states()

    def begin(self, version: str) -> None:
        """Start a slot of a version, before `start` tests the jail. The slot gets no job before the test.

        A program that does a single job can import other modules meanwhile.
        """
        self._begin(version, shares_jail=False)

    def start(self) -> None:
        """Choose the way to start jails, attack one jail as a test, and warm up meanwhile.

        Raises:
            SandboxUnavailable: no way is safe on this machine; the message says what to do.
        """
        if self.settings.warm_up and self._begun is None and self.versions:
            self._begin(self.versions[0], not self.settings.unsafe and _may_share(self.settings.limits))
        try:
            launcher, shares_jail = self._choose()
        except SandboxUnavailable as error:
            self._problem = str(error)
            self._end_what_began()
            raise
        finally:
            self._started.set()
        with self._lock:
            begun = self._begun
            if not self._closed:
                if begun and begun.launcher == launcher and begun.shares_jail <= shares_jail:
                    self._pools, self._begun = begun, None
                else:
                    self._pools = VersionPools(launcher, self._installed, shares_jail)
                self._tier = "unsafe" if launcher.way == "unsafe" else "full"
        self._end_what_began()
        if self.settings.warm_up:
            threading.Thread(target=self._warm_up, name="sandbox-warm-up", daemon=True).start()

    def run(self, request: Request, cancelled: threading.Event | None = None) -> Iterator[Event]:
        """Execute a job. The iterator yields its events as they arrive and always ends with one Done.

        Closing the iterator cancels the job, and so does setting `cancelled`.

        Raises:
            SandboxUnavailable: jails cannot be started here. The iterator may raise it, too.
            UnknownTriton: there is no such version.
        """
        if request.triton not in self.versions:
            raise UnknownTriton(
                f"Triton {request.triton} is not available. Available: {', '.join(self.versions) or 'none'}."
            )
        self._started.wait(self.settings.start_seconds)
        with self._lock:
            if self._pools is None:
                raise SandboxUnavailable(self._problem)
            pool = self._pools.of(request.triton)
        size_bytes = request.size_bytes
        limit_bytes = self.settings.most_bytes(request.task)
        if size_bytes > limit_bytes:
            return iter(_refusal(size_bytes, limit_bytes))
        return _execute(pool, request, cancelled or threading.Event(), is_yielding=yields.get())

    def close(self) -> None:
        """Kill all jails and wait for their end."""
        with self._lock:
            self._closed = True
            self._tier = "none"
            self._problem = "The sandbox has been closed."
            all_pools = [pools for pools in (self._pools, self._begun) if pools is not None]
            self._pools = self._begun = None
        for pools in all_pools:
            pools.close()
        for pools in all_pools:
            pools.join()

    def _begin(self, version: str, shares_jail: bool) -> None:
        launcher = next(iter(launchers(self.settings, self.bubblewrap)), None)
        if launcher is not None and version in self.versions:
            self._begun = VersionPools(launcher, self._installed, shares_jail)
            self._begun.of(version).begin()

    def _end_what_began(self) -> None:
        """End the slot that `begin` starts in a way other than the chosen one, as soon as it has started."""
        with self._lock:
            begun, self._begun = self._begun, None
        if begun is not None:
            begun.close()
            threading.Thread(target=begun.join, name="sandbox-end", daemon=True).start()

    def _choose(self) -> tuple[Launcher, bool]:
        """Return the first way to start a jail that passes the probe, and whether slots may share a jail.

        Two jobs in one jail are separated by their process namespaces, each with its own /proc.
        """
        failures = []
        for launcher in launchers(self.settings, self.bubblewrap):
            limits = launcher.settings.limits
            try:
                findings = attack(launcher)
            except (SlotBroken, OSError) as error:
                failures.append(f"{launcher.title}: {error}")
                continue
            for warning in findings.warnings:
                _log.warning("%s: %s", launcher.title, warning)
            if launcher.way == "unsafe":
                return launcher, False
            if not findings.holes:
                return launcher, _may_share(limits) and not findings.warnings
            failures += [f"{launcher.title}: {hole}" for hole in findings.holes]
        if self.bubblewrap is None and not self.settings.unsafe:
            failures.append("bubblewrap (bwrap) is not installed, or does not start.")
        if self.settings.unsafe and os.getuid() == 0:
            failures.append(NOBODY_MUST_READ)
        raise SandboxUnavailable("\n".join([*failures, installation_advice(self.bubblewrap is not None)]))

    def _warm_up(self) -> None:
        """Start the slots of the newest version one by one. Jobs start the slots of other versions."""
        with self._lock:
            pool = self._pools.of(self.versions[0]) if self._pools and self.versions else None
        if pool is not None:
            for _ in range(self.settings.slots_per_version):
                pool.grow_to(self.settings.slots_per_version)


def _may_share(limits: Limits) -> bool:
    """Return whether jobs may share a jail, if each has its own /proc."""
    return limits.owns_processes and not limits.opens_sockets


def _refusal(size_bytes: int, limit_bytes: int) -> list[Event]:
    message = f"The source has {size_bytes:,} bytes. The limit is {limit_bytes:,} bytes."
    return [
        Diagnostic("error", message, hint="Submit only the code that the kernel needs."),
        Done("failed", 0),
    ]


def _script_of(request: Request, *, is_yielding: bool) -> ScriptKey | None:
    """Return what identifies the process of a script that jobs may share, or None if this job has its own.

    A process keeps its priority, so jobs that yield have processes of their own.
    """
    if (script := request.script) is None:
        return None
    described = json.dumps([to_plain(replace(script, target="")), is_yielding], sort_keys=True)
    digest = hashlib.sha256(described.encode()).hexdigest()
    return ScriptKey(f"{digest} {script.target}", f"{digest} {script.target.partition(':')[0]}:*")


def _execute(
    pool: SlotPool, request: Request, cancelled: threading.Event, *, is_yielding: bool
) -> Iterator[Event]:
    """Execute a job in a slot. If the slot breaks before it has emitted a result, execute it in another."""

    def is_cancelled() -> bool:
        return cancelled.is_set() or pool.is_closed

    script = _script_of(request, is_yielding=is_yielding) if pool.keeps_scripts else None
    done, has_results, began = Done("failed", 0, is_transient=True), False, time.monotonic()
    for is_last in (False, True):
        try:
            with pool.slot(is_cancelled, script) as slot:
                if slot is None:
                    yield CANCELED
                    break
                run = slot.run(request, is_cancelled, yields=is_yielding, keeps=script is not None)
                with closing(run) as events:
                    for event in events:
                        if isinstance(event, Done):
                            done = event
                        else:
                            has_results = has_results or not isinstance(event, Progress)
                            yield event
            break
        except SlotBroken as error:
            if has_results or is_last or pool.is_closed:
                raise SandboxUnavailable("The sandbox failed and was restarted during this job.") from error
    add_span("sandbox", time.monotonic() - began, triton=request.triton)
    yield done
