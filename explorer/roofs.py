"""What this machine's GPU really reaches: measured once, kept in the store, and used for every run on it.

The limits that a run of a user's own code measures are only ever its own: that code could forge them. These
come of a run of the gallery's first kernel, which nobody but us has written.
"""

from __future__ import annotations

from explorer.errors import ExplorerError
from explorer.examples import load_examples
from explorer.measurements import Roofs
from explorer.model import Request, Run
from explorer.run_documents import environment_of
from explorer.services import Services


def roofs_request(services: Services) -> Request | None:
    """The run that measures them; None: there is no GPU, or no Triton."""
    target = services.gpu_target
    if target is None or not services.versions:
        return None
    source = load_examples()[0].source
    return Request(source, target, services.versions[0], task="run", run=Run("gpu", ("roofs",)))


def measure_roofs(services: Services) -> None:
    """Have them measured, after what waits already, if that was never done."""
    request = roofs_request(services)
    if request is None or services.queue.problem("gpu") is not None:
        return
    try:
        services.queue.submit(request)
    except ExplorerError:  # the next run will ask again
        return


def kept_roofs(services: Services, gpu: str) -> Roofs | None:
    """Those that were measured on a GPU of this name; None: none were (yet)."""
    request = roofs_request(services)
    record = services.store.known(request) if request else None
    if record is None:
        return None
    environment = environment_of(record)
    if environment is None or environment.gpu != gpu:
        return None
    return record.measured("roofs", Roofs)
