"""The services behind the views of an application: store, sandbox, queue, queries, profiles."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import cast

import msgspec
from flask import Flask, current_app

from explorer.errors import ExplorerError, SettingsError, Unavailable, UnknownTarget, UnknownTriton
from explorer.jobs import LocalQueue, Metrics, Queue, QueueLimits, RunnerKind, Runners, SandboxRunner
from explorer.jobs.broker import check_broker_url
from explorer.jobs.devices import gpu_runners, interpreter_runners, torch_compile_runners
from explorer.jobs.distributed import DistributedQueue
from explorer.jobs.fairness import CountByClient
from explorer.jobs.gpu import GpuRunner
from explorer.jobs.gpu_gate import GpuRules
from explorer.jobs.health import Health
from explorer.jobs.rates import WORKS, Rates
from explorer.jobs.state import StateCollector
from explorer.jobs.uploads import Uploads
from explorer.jobs.worker_registry import WorkerGpu, WorkerRegistry, check_location
from explorer.matrix import MatrixCompiler
from explorer.model import Request, hardware
from explorer.profiles.read import Profile, Profiles
from explorer.queries import QueryService
from explorer.runs.documents import DeviceDocument, DevicesDocument, GpusDocument
from explorer.runs.related import run_records
from explorer.runs.roofs import roofs_request
from explorer.sandbox import Sandbox
from explorer.sandbox.nvidia import Gpu
from explorer.sandboxes import compilation_sandbox, log_missing_versions, no_version, single_job_sandbox
from explorer.settings import Settings
from explorer.store import Pruner, Quotas, Record, Store, location_of, open_store

#: The kinds whose last runner only does jobs of clients that have no running job.
RESERVES: tuple[RunnerKind, ...] = ("compile", "torch_compile", "interpreter")
_KEY = "triton-explorer"
_log = logging.getLogger(__name__)


class Services:
    """The services of one application. The sandbox starts in the background.

    Without `warm_up`, only the parts that the first job needs start. `sandbox` replaces the sandbox of the
    settings. With a message broker, there is no sandbox: `workers` do all jobs.

    Raises:
        SettingsError: a setting of the store or of the broker is invalid.
        StoreError: the data folder or the database cannot be used.
    """

    def __init__(self, settings: Settings, warm_up: bool = True, sandbox: Sandbox | None = None) -> None:
        self.settings = settings
        self.is_for_one_job = not warm_up
        self.metrics = Metrics()
        self.store: Store = open_store_for_jobs(settings)
        self.sandbox: Sandbox | None = None
        self.workers: WorkerRegistry | None = None
        self.runners: Runners = {}
        self.queue: Queue
        self.rates = rates_of(settings)
        limits = QueueLimits(
            settings.queue_limit,
            # A thread that waits for an answer cannot serve other requests.
            waiting_threads=max(settings.threads // 6, 1),
            rates=self.rates,
            gpu_rules=gpu_rules_of(settings),
        )
        if settings.broker_url:
            self.workers = WorkerRegistry(self.store, shared_location(settings, self.store))
            self.queue = DistributedQueue(self.store, self.workers, settings.broker_url, self.metrics, limits)
        else:
            self.sandbox = sandbox or Sandbox(
                compilation_sandbox(settings) if warm_up else single_job_sandbox(settings)
            )
            self.runners = make_runners(settings, self.sandbox)
            self.queue = LocalQueue(self.store, self.runners, self.metrics, limits, reserves=RESERVES)
        self.profiles = Profiles(settings.recordings_dir)
        self.query_service = QueryService(
            self.store,
            self.queue,
            threads=max(settings.threads // 4, 1),
            processes=max(settings.slots, 1),
            rates=self.rates,
        )
        self.uploads = Uploads()
        self.matrices = MatrixCompiler(self.store, self.queue, self.query_service, self._slots)
        #: The open event streams of each client.
        self.streams = CountByClient(settings.client_streams)
        self.health = Health(
            self.runners,
            lambda: self.versions,
            settings.canary_seconds if self.runners and settings.is_reachable and warm_up else 0,
            self.gpu_target,
        )
        self.metrics.registry.register(StateCollector(self.runners, self.store, self.health, self.streams))
        self._problem: str | None = None
        self._pruner = Pruner(self.store)
        self._starter = threading.Thread(
            target=self._start_sandbox, args=(warm_up,), name="sandbox-start", daemon=True
        )
        self._starter.start()

    def target_name(self, name: str) -> str:
        """Return the name of a target, which may be given as an architecture ("sm_90").

        Raises:
            UnknownTarget: there is no such target; the message lists them.
        """
        try:
            return hardware.find_target(name).name
        except hardware.UnknownTarget as error:
            raise UnknownTarget(str(error)) from error

    def triton_version(self, version: str | None) -> str:
        """Return the given Triton version, or the newest one.

        Raises:
            UnknownTriton: the version is not available; the message lists the available versions.
            Unavailable: no worker has started yet, so the available versions are unknown.
        """
        versions = self.versions
        if self.workers is not None and not versions:
            raise Unavailable("No worker is running. Start one with `triton-explorer worker`.")
        if version in versions:
            return version
        known = ", ".join(versions) or "none"
        if version is None and versions:
            return versions[0]
        raise UnknownTriton(f"Triton {version or ''} is not available on this server. Available: {known}.")

    def profile_of_example(self, name: str) -> Profile | None:
        """Return the newest profile of an example, or None if this server lacks its Triton version."""
        profile = self.profiles.of_example(name)
        return profile if profile and profile.request.triton in self.versions else None

    @property
    def versions(self) -> tuple[str, ...]:
        """The available Triton versions, newest first."""
        if self.workers is None:
            return _not_none(self.sandbox).versions
        offered = self.settings.offered_tritons
        return tuple(each for each in self.workers.versions if not offered or each in offered)

    @property
    def tier(self) -> str:
        """The isolation of jobs: "full", "unsafe", or "none" before a sandbox or worker has started."""
        return self.workers.tier if self.workers else _not_none(self.sandbox).tier

    @property
    def problem(self) -> str | None:
        """Why no kernel can be compiled, or None."""
        if self.workers:
            return self.workers.problem("compile")
        return self._problem or (None if self.versions else no_version(self.settings))

    @property
    def gpus(self) -> tuple[Gpu | WorkerGpu, ...]:
        """The GPUs that kernels are run on, in service or not."""
        if self.workers:
            return self.workers.gpus
        return tuple(runner.gpu for runner in self.runners["gpu"] if isinstance(runner, GpuRunner))

    @property
    def gpu_target(self) -> str | None:
        """The target of this machine's first GPU, or None."""
        return target_of(self.gpus)

    @property
    def devices(self) -> DevicesDocument:
        """The devices that kernels can be run on, with the reasons why devices are not available."""
        interpreter, gpu = self.queue.problem("interpreter"), self.queue.problem("gpu")
        return DevicesDocument(
            DeviceDocument(interpreter is None, interpreter or ""),
            GpusDocument(gpu is None, gpu or "", [each.name for each in self.gpus], self.gpu_target),
        )

    @property
    def devices_of_caller(self) -> DevicesDocument:
        """The devices that the caller of the thread can run kernels on."""
        devices, refusal = self.devices, self.queue.refusal("gpu")
        if not (refusal and devices.gpu.available):
            return devices
        gpu = msgspec.structs.replace(devices.gpu, available=False, reason=refusal)
        return msgspec.structs.replace(devices, gpu=gpu)

    @property
    def roofs_request(self) -> Request | None:
        """The request of the run that measures the roofs of this machine's first GPU, or None."""
        return roofs_request(self.gpu_target, self.versions)

    def run_records(self, run: Record, compilation: Record | None) -> list[Record | None]:
        """Return the records of a query about a run."""
        return run_records(self.store, self.profiles, self.roofs_request, run, compilation)

    def warm_up_gpus(self) -> None:
        """Start the sandbox of each GPU, so that the first run finds it ready."""
        warm_up_gpus(self.runners)

    def close(self) -> None:
        """Stop the matrices, the uploads, the queries, the jobs, the sandbox and the store, in this order."""
        self.health.close()
        self.matrices.close()
        self.uploads.close()
        self.query_service.close()
        self.queue.close()
        self._starter.join()
        close_runners(self.runners)
        self._pruner.close()
        self.store.close()

    def attach(self, app: Flask) -> None:
        """Register these services with an application."""
        app.extensions[_KEY] = self

    def _slots(self) -> int:
        """Return the maximum number of concurrent compilations."""
        return self.workers.slots("compile") if self.workers else self.settings.slots

    def _start_sandbox(self, warm_up: bool) -> None:
        try:
            if self.sandbox:
                log_missing_versions(self.settings, self.sandbox.versions)
                self.sandbox.start()
            if warm_up:
                self.query_service.warm_up()
                self.warm_up_gpus()
        except ExplorerError as error:  # jobs report it; stored results can be read
            self._problem = error.detail
            _log.error("%s: %s", error.title, error.detail)


def make_runners(settings: Settings, sandbox: Sandbox) -> Runners:
    """Return the runners of this machine, with a reserve of each kind in `RESERVES`."""
    return {
        "compile": [SandboxRunner(sandbox)] * (settings.slots + 1),
        "torch_compile": torch_compile_runners(settings),
        "interpreter": interpreter_runners(settings),
        "gpu": gpu_runners(settings),
    }


def warm_up_gpus(runners: Runners) -> None:
    """Start the sandbox of each GPU, so that the first run finds it ready."""
    for runner in runners.get("gpu", ()):
        if isinstance(runner, GpuRunner):
            runner.warm_up()


def close_runners(runners: Runners) -> None:
    """Kill all jobs and jails."""
    for runner in {runner for each in runners.values() for runner in each}:
        runner.close()


def shared_location(settings: Settings, store: Store) -> str:
    """Return the location of the texts, after checking that other machines can share jobs with this one.

    Raises:
        SettingsError: other machines cannot share the jobs; the message says what to set.
    """
    if not settings.database_url.startswith("postgresql"):
        raise SettingsError(
            "With TRITON_EXPLORER_BROKER_URL, servers and workers share a database of PostgreSQL. "
            "Set TRITON_EXPLORER_DATABASE_URL to the same for all of them."
        )
    check_broker_url(settings.broker_url)
    location = location_of(settings.data_dir, settings.blobs_url)
    check_location(store, location)
    return location


def _not_none(sandbox: Sandbox | None) -> Sandbox:
    assert sandbox is not None, "without workers, there is a sandbox"
    return sandbox


def open_store_of(settings: Settings) -> Store:
    """Open the store of a server.

    Raises:
        SettingsError: a URL is invalid.
        StoreError: the data folder or the database cannot be used.
    """
    return open_store(
        settings.data_dir,
        settings.database_url,
        quotas_of(settings),
        settings.blobs_url,
        settings.blob_cache_bytes,
    )


def open_store_for_jobs(settings: Settings) -> Store:
    """Open the store of a process that does jobs or accepts jobs for workers.

    Raises:
        SettingsError: a URL is invalid, or other machines cannot share the jobs.
        StoreError: the data folder or the database cannot be used, or another server does its jobs.
    """
    store = open_store_of(settings)
    try:
        if settings.broker_url:
            shared_location(settings, store)
        store.reserve(is_shared=bool(settings.broker_url))
    except ExplorerError:
        store.close()
        raise
    return store


def target_of(gpus: Sequence[Gpu | WorkerGpu]) -> str | None:
    """Return the target of the first GPU in a list, or None for an empty list."""
    return f"cuda:{gpus[0].capability.replace('.', '')}" if gpus else None


def quotas_of(settings: Settings) -> Quotas:
    return Quotas(
        settings.store_quota_bytes,
        settings.client_quota_bytes,
        settings.keep_days,
        settings.free_disk_bytes,
    )


def rates_of(settings: Settings) -> Rates:
    """Return the limits for each client over time.

    Raises:
        SettingsError: the URL of Redis is invalid.
    """
    return Rates({work: settings.most_per_minute(work) for work in WORKS}, settings.limits_url)


def gpu_rules_of(settings: Settings) -> GpuRules:
    """Return who may use GPUs, and for how long."""
    needs_role = settings.gpu_runs == "role" or (settings.gpu_runs == "auto" and settings.is_reachable)
    return GpuRules(needs_role, settings.gpu_day_seconds if settings.is_reachable else 0.0)


def services_of(app: Flask) -> Services:
    return cast(Services, app.extensions[_KEY])


def services() -> Services:
    return services_of(current_app)
