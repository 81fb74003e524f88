"""Observes a job while a runner does it: metrics, lines of the log, and spans."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from types import TracebackType

from explorer.errors import StoreError
from explorer.jobs.job import Job
from explorer.jobs.metrics import Metrics
from explorer.jobs.runners import runner_kind
from explorer.model import Diagnostic, Done, Event, Stage
from explorer.monitoring.traces import add_span, span
from explorer.monitoring.work_context import working_for
from explorer.pipeline.stages import STAGES

#: The names of parts in a diagnostic come from the jail: only these names become labels.
_STAGES = {stage.name for stage in STAGES}
_log = logging.getLogger(__name__)


class Observation:
    """A job under way. In its block, the thread works in the context of the job."""

    def __init__(self, job: Job, metrics: Metrics) -> None:
        self._job = job
        self._metrics = metrics
        self._block = ExitStack()
        #: Where the job fails, if it does: a stage, or a part of the server.
        self.failing = "source"

    def __enter__(self) -> Observation:
        job, waited = self._job, time.monotonic() - self._job.submitted_at
        self._block.enter_context(working_for(replace(job.caller.context, job_id=job.id)))
        self._span = self._block.enter_context(span("job", ago_seconds=waited, task=job.request.task))
        add_span("queue", waited)
        kind = runner_kind(job.request)
        self._metrics.queue_seconds.labels(kind).observe(waited)
        _log.info(
            "A job begins: %s, after %.3f s in the queue",
            job.request.task,
            waited,
            extra={"fields": {"task": job.request.task, "device": kind, "queue_seconds": round(waited, 3)}},
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._block.__exit__(kind, error, trace)

    def note(self, event: Event) -> None:
        if isinstance(event, Stage) and event.name in _STAGES:
            seconds = event.milliseconds / 1000
            self._metrics.stage_seconds.labels(event.name).observe(seconds)
            add_span(f"stage {event.name}", seconds)
        elif isinstance(event, Diagnostic) and event.severity == "error":
            self.failing = event.stage if event.stage in _STAGES else "source"
        elif isinstance(event, Done) and event.is_transient:
            self.failing = "canceled" if self._job.cancelled.is_set() else "sandbox"

    def end(self, done: Done | None) -> None:
        """Note how the job has ended; None: the server stops, and the job starts anew later."""
        if done is None:
            _log.info("A job is interrupted")
            return
        task, seconds = self._job.request.task, time.monotonic() - self._job.submitted_at
        self._metrics.finished.labels(task, done.status).inc()
        self._metrics.seconds.labels(task).observe(seconds)
        fields: dict[str, str | float] = {"task": task, "status": done.status, "seconds": round(seconds, 3)}
        if done.status == "failed":
            self._metrics.failures.labels(task, self.failing).inc()
            fields["failure"] = self.failing
        self._span.set(**fields)
        _log.info("A job ends: %s %s in %.3f s", task, done.status, seconds, extra={"fields": fields})


@contextmanager
def reported(what: str) -> Iterator[None]:
    """Log any error: the thread must survive. `what` is the beginning of the message."""
    try:
        yield
    except StoreError as error:
        _log.warning("%s: %s", what, error.detail)
    except Exception:
        _log.exception("%s because of an unexpected error", what)
