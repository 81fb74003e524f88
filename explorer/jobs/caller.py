"""The caller of a job or query: a client with its follower and roles. A thread has one at a time."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from enum import IntEnum

from explorer.monitoring.work_context import WorkContext, set_work_context
from explorer.store.deletion_rights import DeletionRight


class Urgency(IntEnum):
    """How urgent a job is. Jobs of a class start before the jobs of the classes below (see `job_order`).

    A user waits for an `INTERACTIVE` job. Typing starts a `LIVE` job: the next live job of the same follower
    ends it. A `BATCH` consists of many jobs.
    """

    INTERACTIVE = 0
    LIVE = 1
    BATCH = 2


#: May run kernels on GPUs where a role is required.
GPU_ROLE = "gpu"
#: May do everything.
ADMIN_ROLE = "admin"


@dataclass(frozen=True)
class Caller:
    """The caller of a job or a query.

    Limits apply to each `client`; "" is the server itself. `follower` distinguishes the pages and programs
    of a client: a job is canceled when the last follower cancels it. With `deletion_right`, the caller can
    delete its submissions. `roles` are the roles of its account. `context` is the request.
    """

    client: str = ""
    follower: str = ""
    urgency: Urgency = Urgency.INTERACTIVE
    deletion_right: DeletionRight | None = None
    roles: frozenset[str] = frozenset()
    context: WorkContext = WorkContext()  # noqa: RUF009  frozen


_current: ContextVar[Caller] = ContextVar("caller", default=Caller())  # noqa: B039  frozen


def current_caller() -> Caller:
    """Return the caller that this thread works for."""
    return _current.get()


def work_for(caller: Caller) -> None:
    """Set the caller that this thread works for."""
    _current.set(caller)
    set_work_context(caller.context)
