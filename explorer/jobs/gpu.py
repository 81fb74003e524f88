"""The jobs of one GPU, one at a time. A job starts when the GPU is free of processes of the last job.

The memory of a killed process is free only after the driver has destroyed its context. Until then the next
job would be disturbed or find too little memory, so it waits. A GPU that does not recover is taken out of
service.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator

from explorer.errors import ExplorerError
from explorer.jobs.activity import Activity
from explorer.jobs.runners import SandboxRunner
from explorer.model import Event, Request
from explorer.sandbox import Sandbox
from explorer.sandbox.nvidia import MEBIBYTE, DriverError, Gpu, Usage, usage_of

_RECOVERY_SECONDS = 20.0
_CHECK_SECONDS = 0.25
#: Memory that a driver may keep after the first context.
_MEMORY_SLACK_BYTES = 512 * MEBIBYTE
_log = logging.getLogger(__name__)


class GpuRunner:
    """Runs jobs on one GPU."""

    def __init__(self, gpu: Gpu, sandbox: Sandbox, usage: Callable[[Gpu], Usage] = usage_of) -> None:
        self.gpu = gpu
        self.sandbox = sandbox
        self._jobs = SandboxRunner(sandbox, starts_it=True)
        self._usage = usage
        #: A job and a canary exclude each other.
        self._turn = threading.Lock()
        #: The number of times the GPU was taken out of service.
        self.outages = 0
        self._before: Usage | None = None
        self.problem: str | None = None

    def warm_up(self) -> None:
        """Start the sandbox, so that the first job finds it ready. That job reports any error."""
        with contextlib.suppress(ExplorerError):
            for version in self.sandbox.versions[:1]:
                self._jobs.start(version)

    @property
    def activity(self) -> Activity:
        """The outcomes of the jobs of this GPU."""
        return self._jobs.activity

    @property
    def memory_bytes(self) -> int | None:
        """The memory that was in use after the last job, or before the first one; None: not known yet."""
        return None if self._before is None else self._before.memory_bytes

    def run(self, request: Request, cancelled: threading.Event) -> Iterator[Event]:
        """Yield the events of a job.

        Raises:
            Unavailable, UnknownTriton: the job cannot be run on this machine.
        """
        with self._turn:
            if self._before is None:
                try:
                    self._before = self._usage(self.gpu)
                except DriverError as error:
                    _log.warning("%s: %s", self.gpu.name, error)  # the job reports the problem itself
            yield from self._jobs.run(request, cancelled)

    def settle(self, closed: threading.Event) -> None:
        """Wait until the GPU is in the state before the job. After a time limit, take it out of service."""
        deadline = time.monotonic() + _RECOVERY_SECONDS
        while (problem := self._left_behind()) is not None:
            if time.monotonic() > deadline:
                break
            if closed.wait(_CHECK_SECONDS):
                return
        if problem != self.problem:
            if problem is None:
                _log.warning("%s (%s) is in service again", self.gpu.name, self.gpu.uuid)
            else:
                self.outages += self.problem is None
                _log.error("%s (%s): %s", self.gpu.name, self.gpu.uuid, problem)
        self.problem = problem

    def close(self) -> None:
        self._jobs.close()

    def _left_behind(self) -> str | None:
        """Return a message that names what jobs have left on the GPU, or None."""
        try:
            now = self._usage(self.gpu)
        except DriverError as error:
            return f"{self.gpu.name} is out of service: {error}"
        before = self._before or now
        left = []
        if processes := now.processes - before.processes:
            left.append(f"{len(processes)} process{'es' if len(processes) > 1 else ''}")
        surplus_bytes = now.memory_bytes - before.memory_bytes
        if surplus_bytes > _MEMORY_SLACK_BYTES:
            left.append(f"{surplus_bytes // MEBIBYTE:,} MiB of memory")
        if not left:
            self._before = now
            return None
        return (
            f"{self.gpu.name} is out of service: {' and '.join(left)} more than before the last job "
            "are in use. End the programs that use the GPU, or reset it (nvidia-smi --gpu-reset)."
        )
