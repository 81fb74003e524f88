"""The abilities of the workers in the distributed form, and the queue of each job.

A queue is named after the requirements of its jobs: "compile:3.9.0", "gpu:nvidia-h200:3.6.0".
"""

from __future__ import annotations

import os
import re
import socket
import threading
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from explorer.errors import SettingsError, StoreError
from explorer.jobs.runners import RunnerKind, runner_kind
from explorer.model import Request
from explorer.sandbox.versions import version_key
from explorer.store import Process, Store

#: How often a process announces that it is alive, and a worker looks for jobs.
BEAT_SECONDS = 3.0
#: How long a server caches the state of the workers.
_SECONDS = 1.0
_KIND_WORDS: dict[RunnerKind, str] = {
    "compile": "compilations",
    "torch_compile": "programs with torch.compile",
    "interpreter": "runs in the interpreter",
    "gpu": "runs on a GPU",
}
RUNNER_KINDS = tuple(_KIND_WORDS)


class WorkerGpu(msgspec.Struct, frozen=True):
    """A GPU of a worker. `capability` is for example "9.0"."""

    name: str
    capability: str


class WorkerDocument(msgspec.Struct, frozen=True):
    """The abilities of a worker. `slots` has the number of concurrent jobs of each kind.

    `problems` maps a kind to the reason why none of its jobs can be done at the moment.
    """

    queues: tuple[str, ...]
    slots: dict[str, int]
    tier: str
    gpus: tuple[WorkerGpu, ...] = ()
    problems: dict[str, str] = msgspec.field(default_factory=dict)


class Worker(msgspec.Struct, frozen=True):
    """A worker that is alive, or was alive within the last day."""

    name: str
    is_alive: bool
    document: WorkerDocument


_decode = msgspec.json.Decoder(WorkerDocument).decode


def process_name() -> str:
    """Return a unique name for this process, which includes the name of the machine."""
    return f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"


def check_location(store: Store, location: str) -> None:
    """Check that the living servers and workers of a database store texts in the same place as this process.

    Raises:
        SettingsError: a server or worker stores texts elsewhere.
    """
    for process in store.processes.all():
        if process.is_alive and process.location != location:
            raise SettingsError(
                f"{process.name} uses the same database and stores texts in {process.location}, this process "
                f"in {location}. Set TRITON_EXPLORER_BLOBS_URL to the same S3 store for all servers and "
                "workers, or let them share a data folder."
            )


def queue_name(kind: RunnerKind, version: str, gpu: str = "") -> str:
    """Return the name of the queue of a kind of jobs with a Triton version, on a model of GPU."""
    model = re.sub(r"[^a-z0-9]+", "-", gpu.lower()).strip("-")
    return ":".join(filter(None, (kind, model, version)))


def kind_of(queue: str) -> RunnerKind:
    return next(kind for kind in _KIND_WORDS if kind == queue.partition(":")[0])


def version_of(queue: str) -> str:
    """Return the Triton version of the jobs in a queue."""
    return queue.rpartition(":")[2]


def chosen_queues(possible: Sequence[str], wanted: str) -> list[str]:
    """Return the queues that an administrator names: all for "", or names and their prefixes up to a ":".

    Raises:
        SettingsError: a name matches no possible queue.
    """
    names = [name.strip() for name in wanted.split(",") if name.strip()]
    for name in names:
        if not any(f"{queue}:".startswith(f"{name}:") for queue in possible):
            raise SettingsError(f"This machine cannot do {name!r}. It can do {', '.join(possible)}.")
    return [
        queue for queue in possible if not names or any(f"{queue}:".startswith(f"{name}:") for name in names)
    ]


class WorkerRegistry:
    """The workers, as the web server sees them. Safe to use from many threads.

    `location` is where the server stores texts.
    """

    def __init__(self, store: Store, location: str) -> None:
        self.location = location
        self._store = store
        self._reading = threading.Lock()
        self._known: tuple[Worker, ...] = ()
        self._until = 0.0

    @property
    def known(self) -> tuple[Worker, ...]:
        """The workers that are alive, or were within the last day, as last read from the database."""
        with self._reading:
            if time.monotonic() > self._until:
                with suppress(StoreError):  # the submission of a job reports the error
                    found = self._store.processes.all()
                    self._known = tuple(_worker(process) for process in found if process.is_worker)
                self._until = time.monotonic() + _SECONDS
            return self._known

    @property
    def alive(self) -> tuple[Worker, ...]:
        return tuple(worker for worker in self.known if worker.is_alive)

    @property
    def versions(self) -> tuple[str, ...]:
        """The Triton versions that workers have, newest first; also the versions of the last day."""
        found = {version_of(queue) for worker in self.known for queue in worker.document.queues}
        return tuple(sorted(found, key=version_key, reverse=True))

    @property
    def gpus(self) -> tuple[WorkerGpu, ...]:
        """The GPUs of the workers that live."""
        return tuple(gpu for worker in self.alive for gpu in worker.document.gpus)

    def problem(self, kind: RunnerKind) -> str | None:
        """Return why no worker can do a kind of jobs at the moment, or None."""
        able = [
            worker for worker in self.alive if any(kind_of(queue) == kind for queue in worker.document.queues)
        ]
        if not able:
            return f"No worker for {_KIND_WORDS[kind]} is running."
        problems = [worker.document.problems.get(kind) for worker in able]
        return problems[0] if all(problems) else None

    def slots(self, kind: RunnerKind) -> int:
        """Return how many jobs of a kind the workers do at the same time."""
        return sum(worker.document.slots.get(kind, 0) for worker in self.alive)

    @property
    def by_queue(self) -> dict[str, int]:
        """The number of living workers of each queue."""
        return dict(Counter(queue for worker in self.alive for queue in worker.document.queues))

    @property
    def tier(self) -> str:
        """The weakest isolation of the workers; "none" without any worker."""
        tiers = {worker.document.tier for worker in self.alive}
        return next((tier for tier in ("none", "unsafe", "full") if tier in tiers), "none")

    def queue_of(self, request: Request) -> str:
        """Return the queue for a request. For a GPU run, it names a model that can execute the target."""
        kind = runner_kind(request)
        if kind != "gpu":
            return queue_name(kind, request.triton)
        capability = ".".join(filter(None, re.split(r"(\d)$", request.target.partition(":")[2])))
        models = sorted(self.gpus, key=lambda gpu: gpu.capability != capability)
        return queue_name(kind, request.triton, models[0].name if models else "none")

    def missing(self, queue: str) -> str:
        """Return which worker a queue lacks, or why its workers do no job; "" if one does."""
        able = [worker for worker in self.alive if queue in worker.document.queues]
        if not able:
            return f"no worker for {_KIND_WORDS[kind_of(queue)]} with Triton {version_of(queue)} is running"
        problems = [worker.document.problems.get(kind_of(queue)) for worker in able]
        return (problems[0] or "").rstrip(".") if all(problems) else ""


def _worker(process: Process) -> Worker:
    return Worker(process.name, process.is_alive, _decode(process.document))
