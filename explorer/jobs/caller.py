"""Who asks for jobs and answers. Each thread works for one caller at a time."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from enum import IntEnum

from explorer.monitoring.origin import Origin, set_origin
from explorer.store.claims import Claim


class Urgency(IntEnum):
    """How urgent a job is. Jobs of a class start before those of the classes below it.

    Somebody waits for an `INTERACTIVE` job. A `LIVE` job was started by typing: the next one of the same
    follower ends it. A `BATCH` consists of many jobs.
    """

    INTERACTIVE = 0
    LIVE = 1
    BATCH = 2


#: May run kernels on GPUs where that is not for everybody.
GPU_ROLE = "gpu"
#: May do everything.
ADMIN_ROLE = "admin"


@dataclass(frozen=True)
class Caller:
    """Who asks for a job or an answer.

    `client` is what limits are counted for, and "" the server itself. `follower` tells the pages and programs
    of a client apart: a job is canceled when the last follower cancels it. With `claim`, what is
    submitted can be deleted. `roles` are those of the caller's account. `origin` is the request.
    """

    client: str = ""
    follower: str = ""
    urgency: Urgency = Urgency.INTERACTIVE
    claim: Claim | None = None
    roles: frozenset[str] = frozenset()
    origin: Origin = Origin()  # noqa: RUF009  frozen


_current: ContextVar[Caller] = ContextVar("caller", default=Caller())  # noqa: B039  frozen


def current_caller() -> Caller:
    """Return the caller that this thread works for."""
    return _current.get()


def work_for(caller: Caller) -> None:
    """Set the caller that this thread works for from here on."""
    _current.set(caller)
    set_origin(caller.origin)
