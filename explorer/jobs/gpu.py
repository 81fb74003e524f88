"""One GPU and the jobs on it: one at a time, and what a job leaves behind stops the next one.

A killed process gives its memory back only once the driver has taken its context apart. The next job would
be measured beside that, or find no memory: it waits, and a GPU that does not recover is taken out of service.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator

from explorer.jobs.nvidia import DriverError, Gpu, Usage, usage_of
from explorer.jobs.runners import SandboxRunner
from explorer.model import Event, Request
from explorer.sandbox import Sandbox
from explorer.settings import MEBIBYTE

_RECOVERY_SECONDS = 20.0
_LOOK_SECONDS = 0.25
#: What a driver may keep for itself after the first context.
_MEMORY_SLACK_BYTES = 512 * MEBIBYTE
_log = logging.getLogger(__name__)


class GpuRunner:
    """Jobs on one GPU."""

    def __init__(self, gpu: Gpu, sandbox: Sandbox, usage: Callable[[Gpu], Usage] = usage_of) -> None:
        self.gpu = gpu
        self._jobs = SandboxRunner(sandbox, starts_it=True)
        self._usage = usage
        self._before: Usage | None = None
        self._closed = threading.Event()
        self.problem: str | None = None

    def run(self, request: Request, cancelled: threading.Event) -> Iterator[Event]:
        """Yield the events of a job.

        Raises:
            Unavailable, UnknownTriton: it cannot be run here.
        """
        if self._before is None:
            try:
                self._before = self._usage(self.gpu)
            except DriverError as error:
                _log.warning("%s: %s", self.gpu.name, error)  # the job itself will say what is wrong
        return self._jobs.run(request, cancelled)

    def settle(self) -> None:
        """Wait until the GPU is as it was before the job, for a while."""
        deadline = time.monotonic() + _RECOVERY_SECONDS
        while (problem := self._left_behind()) is not None:
            if time.monotonic() > deadline:
                break
            if self._closed.wait(_LOOK_SECONDS):
                return
        if problem != self.problem:
            if problem is None:
                _log.warning("%s (%s) is in service again", self.gpu.name, self.gpu.uuid)
            else:
                _log.error("%s (%s): %s", self.gpu.name, self.gpu.uuid, problem)
        self.problem = problem

    def close(self) -> None:
        """Kill what runs."""
        self._closed.set()
        self._jobs.close()

    def _left_behind(self) -> str | None:
        """What the jobs have left on the GPU, as a message; None: nothing."""
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
            "are in use on it. End what else uses it, or reset it (nvidia-smi --gpu-reset)."
        )
