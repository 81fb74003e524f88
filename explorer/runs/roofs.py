"""The roofs of this machine's GPU, measured once by a run that is stored like other runs.

Roofs that a run of user code measures count for that run only, since the code could forge them. The roofs for
other runs are measured by a run of the gallery's first kernel.
"""

from __future__ import annotations

from typing import Protocol

from explorer.errors import ExplorerError
from explorer.examples import load_examples
from explorer.jobs import Queue
from explorer.model import Request, Run
from explorer.profiles.read import Profiles
from explorer.runs.documents import environment_of
from explorer.store import Record, Store


class Host(Protocol):
    """The services of an application that this folder needs (`explorer.services.Services`)."""

    @property
    def store(self) -> Store: ...

    @property
    def profiles(self) -> Profiles: ...

    @property
    def queue(self) -> Queue: ...

    @property
    def versions(self) -> tuple[str, ...]: ...

    @property
    def gpu_target(self) -> str | None: ...


def roofs_request(host: Host) -> Request | None:
    """Return the request of the run that measures the roofs; None without a GPU or without Triton."""
    target = host.gpu_target
    if target is None or not host.versions:
        return None
    source = load_examples()[0].source
    return Request(source, target, host.versions[0], task="run", run=Run("gpu", ("roofs",)))


def measure_roofs(host: Host) -> None:
    """Submit the run that measures the roofs, unless it is stored."""
    request = roofs_request(host)
    if request is None or host.queue.problem("gpu") is not None:
        return
    try:
        host.queue.submit(request)
    except ExplorerError:  # the next run on the GPU submits it again
        return


def roofs_run(host: Host, gpu: str) -> Record | None:
    """Return the run that measured the roofs of a GPU of this name; or None."""
    request = roofs_request(host)
    record = host.store.known(request) if request else None
    if record is None or "roofs" not in record.result.measurements:
        return None
    environment = environment_of(record)
    return record if environment is not None and environment.gpu == gpu else None
