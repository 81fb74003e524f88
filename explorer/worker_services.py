"""The services of a worker: store, sandbox, runners, and the jobs."""

from __future__ import annotations

import threading
from contextlib import ExitStack

from prometheus_client import start_http_server

from explorer.errors import SettingsError
from explorer.jobs import Metrics, Runners
from explorer.jobs.consumer import Consumer, Station
from explorer.jobs.gpu import GpuRunner
from explorer.jobs.gpu_gate import GpuRules
from explorer.jobs.health import Health, problem_of_slots
from explorer.jobs.runners import NoDevice, RunnerKind, problem_of
from explorer.jobs.state import StateCollector
from explorer.jobs.worker_jobs import WorkerJobs
from explorer.jobs.worker_registry import WorkerGpu, chosen_queues, kind_of, queue_name
from explorer.monitoring.metrics import REGISTRY
from explorer.sandbox import Sandbox
from explorer.sandboxes import compilation_sandbox, log_missing_versions, no_version
from explorer.services import (
    RESERVES,
    close_runners,
    make_runners,
    open_store_for_jobs,
    shared_location,
    target_of,
    warm_up_gpus,
)
from explorer.settings import Settings
from explorer.store import Pruner


class WorkerServices:
    """The services of one worker. `wanted` names its queues; "": all queues that this machine can serve.

    Raises:
        SettingsError: a setting is invalid, there is no Triton version, or this machine cannot do the jobs of
            a queue.
        SandboxUnavailable: no jail can be started on this machine.
        StoreError: the data folder or the database cannot be used.
    """

    def __init__(self, settings: Settings, wanted: str = "") -> None:
        self._metrics_server = ExitStack()
        self._store = open_store_for_jobs(settings)
        location = shared_location(settings, self._store)
        self._sandbox = Sandbox(compilation_sandbox(settings))
        self._runners = make_runners(settings, self._sandbox)
        if not self._sandbox.versions:
            raise SettingsError(no_version(settings))
        log_missing_versions(settings, self._sandbox.versions)
        self.queues = chosen_queues(_possible_queues(self._runners, self._sandbox.versions), wanted)
        self._sandbox.start()
        warm_up_gpus(self._runners)
        self._metrics = Metrics()
        self._metrics.leave_queue_to_others()
        # Web servers check the role.
        gpu_rules = GpuRules(day_seconds=settings.gpu_day_seconds)
        self._jobs = WorkerJobs(self._store, self._metrics, gpu_rules)
        kinds = {kind_of(queue) for queue in self.queues}
        self._health = Health(
            {kind: self._runners[kind] for kind in kinds},
            lambda: self._sandbox.versions,
            settings.canary_seconds,
            target_of([runner.gpu for runner in self._gpus()]),
        )
        self._metrics.registry.register(StateCollector(self._runners, self._store, self._health))
        self._pruner = Pruner(self._store)
        self._consumer = Consumer(
            self._store,
            self._stations(),
            settings.broker_url,
            location=location,
            tier=self._sandbox.tier,
            gpus=[WorkerGpu(gpu.gpu.name, gpu.gpu.capability) for gpu in self._gpus()],
            problem=self._problem,
        )

    def serve_metrics(self, host: str, port: int) -> int:
        """Serve the metrics until the worker is closed, and return the port. Port 0 is any free one.

        Raises:
            OSError: the port is taken.
        """
        # Prometheus calls a registry like any other collector.
        self._metrics.registry.register(REGISTRY)
        server, thread = start_http_server(port, host, self._metrics.registry)
        self._metrics_server.callback(thread.join)
        self._metrics_server.callback(server.server_close)
        self._metrics_server.callback(server.shutdown)
        return int(server.server_port)

    def run(self, stopped: threading.Event) -> None:
        """Work until `stopped` is set."""
        self._consumer.run(stopped)

    def close(self) -> None:
        """Give the running jobs back at once, and stop."""
        self._metrics_server.close()
        self._health.close()
        self._jobs.close()
        close_runners(self._runners)
        self._pruner.close()
        self._store.close()

    def _problem(self, kind: RunnerKind) -> str | None:
        """Return why no job of a kind can be done at the moment, or None."""
        slots = [slot for slot in self._health.slots() if slot.kind == kind]
        return problem_of(self._runners[kind]) or problem_of_slots(slots)

    def _gpus(self) -> list[GpuRunner]:
        return [runner for runner in self._runners["gpu"] if isinstance(runner, GpuRunner)]

    def _stations(self) -> list[Station]:
        kinds: dict[RunnerKind, list[str]] = {}
        for queue in self.queues:
            kinds.setdefault(kind_of(queue), []).append(queue)
        return [
            Station(
                self._store,
                self._jobs,
                queues,
                self._runners[kind],
                int(kind in RESERVES),
            )
            for kind, queues in kinds.items()
        ]


def _possible_queues(runners: Runners, versions: tuple[str, ...]) -> list[str]:
    """Return the queues of all jobs that this machine can do."""
    found = []
    for kind, each in runners.items():
        models = [""]
        if kind == "gpu":
            models = sorted({runner.gpu.name for runner in each if isinstance(runner, GpuRunner)})
        if not any(isinstance(runner, NoDevice) for runner in each):
            found += [queue_name(kind, version, model) for model in models for version in versions]
    return found
