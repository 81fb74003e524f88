"""The context of work: the request, its trace, and the job that it has started.

Each thread, and each task of the event loop, works in one context at a time. The log names the context, and
spans belong to it. Work that moves to another thread or process takes its context along.
"""

from __future__ import annotations

import itertools
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

#: The form of a request ID that a proxy may choose.
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_process = secrets.token_hex(6)
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class WorkContext:
    """The request that work is done for, the job, and the W3C `traceparent` of the present span. "": none."""

    request_id: str = ""
    job_id: str = ""
    traceparent: str = ""


_current: ContextVar[WorkContext] = ContextVar("work_context", default=WorkContext())  # noqa: B039  frozen


def new_request_id() -> str:
    """Return an ID that is unique on all servers."""
    return f"{_process}-{next(_numbers):x}"


def accepted_request_id(name: str) -> str:
    """Return the ID that a proxy has chosen, or a new one if the text is not an ID."""
    return name if _REQUEST_ID.fullmatch(name) else new_request_id()


def current_work_context() -> WorkContext:
    """Return the context of the work of this thread or task."""
    return _current.get()


def set_work_context(context: WorkContext) -> None:
    """Set the context of the further work of this thread or task."""
    _current.set(context)


@contextmanager
def working_for(context: WorkContext) -> Iterator[None]:
    """Work in a context until the end of the block."""
    token = _current.set(context)
    try:
        yield
    finally:
        _current.reset(token)
