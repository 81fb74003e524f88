"""Metrics for Prometheus that count the jobs and requests of one application.

The present state of an application is in `state`; the metrics of the process are in
`explorer.monitoring.metrics`. The values of labels are names of this program, never texts of a user.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from explorer.monitoring import metrics as of_process

_JOB_SECONDS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60)
_STAGE_SECONDS = (0.001, 0.005, 0.02, 0.1, 0.5, 2, 10)
_QUEUE_SECONDS = (0.01, 0.1, 1, 10, 60, 300, 1800)
_RESPONSE_SECONDS = (0.001, 0.005, 0.02, 0.1, 0.5, 2, 10)


class HttpMetrics:
    """The responses. Only the event loop counts them."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._responses = Counter(
            "triton_explorer_http_responses",
            "Responses by route and status.",
            ("route", "status"),
            registry=registry,
        )
        self._seconds = Histogram(
            "triton_explorer_http_response_seconds",
            "Time from the headers of a request to the headers of its response.",
            ("route",),
            buckets=_RESPONSE_SECONDS,
            registry=registry,
        )
        #: Cached: finding a metric by its labels takes longer than counting.
        self._found: dict[tuple[str, int], tuple[Counter, Histogram]] = {}

    def observe(self, route: str, status: int, seconds: float) -> None:
        """Count a response. `route` is the pattern of its address."""
        found = self._found.get((route, status))
        if found is None:
            found = self._responses.labels(route, str(status)), self._seconds.labels(route)
            self._found[route, status] = found
        found[0].inc()
        found[1].observe(seconds)


class Metrics:
    """The metrics of one application, in their own registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.http = HttpMetrics(self.registry)
        self.finished = Counter(
            "triton_explorer_jobs_finished",
            "Jobs by task and status.",
            ("task", "status"),
            registry=self.registry,
        )
        self.failures = Counter(
            "triton_explorer_job_failures",
            "Jobs that failed, by task and by the stage or the part of the server in which they did.",
            ("task", "kind"),
            registry=self.registry,
        )
        self.answered = Counter(
            "triton_explorer_compilations_answered",
            "Submissions by source of the result: the store, a job in flight, or a new job.",
            ("by",),
            registry=self.registry,
        )
        self.refused = Counter(
            "triton_explorer_jobs_refused", "Jobs refused because the queue was full.", registry=self.registry
        )
        self.problems = Counter(
            "triton_explorer_problems",
            "Error responses by the kind that they name: refusals by a limit, invalid requests, failures.",
            ("kind",),
            registry=self.registry,
        )
        self.waiting = Gauge(
            "triton_explorer_jobs_waiting", "Jobs in the queue.", ("device",), registry=self.registry
        )
        self.oldest_seconds = Gauge(
            "triton_explorer_queue_age_seconds",
            "Time that the oldest job in the queue has waited.",
            ("device",),
            registry=self.registry,
        )
        self.in_service = Gauge(
            "triton_explorer_devices_in_service",
            "Runners that can do jobs, by device.",
            ("device",),
            registry=self.registry,
        )
        self.running = Gauge(
            "triton_explorer_jobs_running",
            "Jobs that run at the moment.",
            ("device",),
            registry=self.registry,
        )
        self.queue_seconds = Histogram(
            "triton_explorer_queue_seconds",
            "Time that jobs have waited in the queue.",
            ("device",),
            buckets=_QUEUE_SECONDS,
            registry=self.registry,
        )
        self.stage_seconds = Histogram(
            "triton_explorer_stage_seconds",
            "Time that the compiler took for a stage.",
            ("stage",),
            buckets=_STAGE_SECONDS,
            registry=self.registry,
        )
        self.seconds = Histogram(
            "triton_explorer_job_seconds",
            "Time from the submission of a job to its last event.",
            ("task",),
            buckets=_JOB_SECONDS,
            registry=self.registry,
        )

    def leave_queue_to_others(self) -> None:
        """Hide the state of the queue: web servers show the queue of a worker's jobs."""
        for gauge in (self.waiting, self.oldest_seconds, self.running, self.in_service):
            self.registry.unregister(gauge)

    def exposition(self) -> bytes:
        """Return all metrics, including the process metrics, in the text format of Prometheus."""
        return generate_latest(self.registry) + generate_latest(of_process.REGISTRY)
