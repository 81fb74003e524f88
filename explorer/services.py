"""What a running application consists of behind its views: store, sandbox, queue."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace
from typing import cast

from flask import Flask, current_app

from explorer.analyses import Analyst
from explorer.errors import ExplorerError, UnknownTarget, UnknownTriton
from explorer.jobs import Metrics, Queue, Runners, SandboxRunner
from explorer.jobs.devices import gpu_runners, interpreter_runners
from explorer.jobs.gpu import GpuRunner
from explorer.jobs.nvidia import Gpu
from explorer.pipeline import targets
from explorer.recordings import Recordings
from explorer.run_documents import DeviceDocument, DevicesDocument, GpusDocument
from explorer.sandbox import Sandbox
from explorer.settings import Settings
from explorer.store import Store

DEFAULT_TARGET = "cuda:90"
_KEY = "triton-explorer"
_log = logging.getLogger(__name__)


class Services:
    """The parts, put together. The sandbox starts in the background: the page need not wait for it.

    Without `warm_up` it starts no more than the first job needs. `problem` says why it cannot run.
    """

    def __init__(self, settings: Settings, warm_up: bool = True) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.store = Store(settings)
        self.sandbox = Sandbox(replace(settings.sandbox, warm_up=warm_up))
        self.runners: Runners = {
            "compile": [SandboxRunner(self.sandbox)] * settings.slots,
            "interpreter": interpreter_runners(settings),
            "gpu": gpu_runners(settings),
        }
        self.queue = Queue(self.store, self.runners, settings, self.metrics)
        self.recordings = Recordings(settings.recordings_dir)
        self.analyst = Analyst(
            self.store, self.queue, threads=max(settings.threads // 4, 1), processes=max(settings.slots, 1)
        )
        self.problem: str | None = None
        self._starter = threading.Thread(
            target=self._start_sandbox, args=(warm_up,), name="sandbox-start", daemon=True
        )
        self._starter.start()

    def target_name(self, name: str) -> str:
        """The target's own name, also for its architecture ("sm_90").

        Raises:
            UnknownTarget: with the list of those that are known.
        """
        try:
            return targets.find_target(name).name
        except targets.UnknownTarget as error:
            raise UnknownTarget(str(error)) from error

    def triton_version(self, version: str | None) -> str:
        """The Triton version asked for, or the newest.

        Raises:
            UnknownTriton: with the list of those that are available.
        """
        versions = self.versions
        if version in versions:
            return version
        known = ", ".join(versions) or "none"
        if version is None and versions:
            return versions[0]
        raise UnknownTriton(f"Triton {version or ''} is not available here. Available: {known}.")

    @property
    def versions(self) -> tuple[str, ...]:
        """The Triton versions that can be asked for, the newest first."""
        return self.sandbox.versions

    @property
    def gpus(self) -> tuple[Gpu, ...]:
        """The GPUs that kernels are run on here, whether in service or not."""
        return tuple(runner.gpu for runner in self.runners["gpu"] if isinstance(runner, GpuRunner))

    @property
    def gpu_target(self) -> str | None:
        """The target that a kernel for this machine's first GPU is compiled for; None: there is no GPU."""
        return f"cuda:{self.gpus[0].capability.replace('.', '')}" if self.gpus else None

    @property
    def devices(self) -> DevicesDocument:
        """What kernels can be run on here, and why not on what."""
        interpreter, gpu = self.queue.problem("interpreter"), self.queue.problem("gpu")
        return DevicesDocument(
            DeviceDocument(interpreter is None, interpreter or ""),
            GpusDocument(gpu is None, gpu or "", [each.name for each in self.gpus]),
        )

    def close(self) -> None:
        """Stop the analyses, the jobs, the sandbox and the store, in this order."""
        self.analyst.close()
        self.queue.close()
        self._starter.join()
        for runner in {runner for runners in self.runners.values() for runner in runners}:
            runner.close()
        self.sandbox.close()
        self.store.close()

    def attach(self, app: Flask) -> None:
        """Let the views of `app` find these services."""
        app.extensions[_KEY] = self

    def _start_sandbox(self, warm_up: bool) -> None:
        try:
            self.sandbox.start()
            if warm_up:
                self.analyst.warm_up()
        except ExplorerError as error:  # every job will say so; the page still shows what is stored
            self.problem = error.detail
            _log.error("%s: %s", error.title, error.detail)


def services_of(app: Flask) -> Services:
    """The services of an application."""
    return cast(Services, app.extensions[_KEY])


def services() -> Services:
    """The services of the application that answers the current request."""
    return services_of(current_app)
