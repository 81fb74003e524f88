"""The roofs of this machine's GPU, measured once by a run that is stored like other runs.

Roofs that a run of user code measures count for that run only, since the code could forge them. The roofs for
other runs are measured by a run of the gallery's first kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

from explorer.errors import ExplorerError
from explorer.examples import load_examples
from explorer.jobs import Queue
from explorer.model import Request, Run
from explorer.runs.documents import environment_of
from explorer.store import Record, Store


def roofs_request(gpu_target: str | None, versions: Sequence[str]) -> Request | None:
    """Return the request of the run that measures the roofs; None without a GPU or without Triton."""
    if gpu_target is None or not versions:
        return None
    source = load_examples()[0].source
    return Request(source, gpu_target, versions[0], task="run", run=Run("gpu", ("roofs",)))


def measure_roofs(queue: Queue, request: Request | None) -> None:
    """Submit the run that measures the roofs, unless it is stored."""
    if request is None or queue.problem("gpu") is not None:
        return
    try:
        queue.submit(request)
    except ExplorerError:  # the next run on the GPU submits it again
        return


def roofs_run(store: Store, request: Request | None, gpu: str) -> Record | None:
    """Return the run that measured the roofs of a GPU of this name; or None."""
    record = store.known(request) if request else None
    if record is None or "roofs" not in record.result.measurements:
        return None
    environment = environment_of(record)
    return record if environment is not None and environment.gpu == gpu else None
