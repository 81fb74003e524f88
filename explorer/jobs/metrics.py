"""Metrics for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60)


class Metrics:
    """The metrics of one application, in their own registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.finished = Counter(
            "triton_explorer_jobs_finished",
            "Jobs by task and status.",
            ("task", "status"),
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
        self.waiting = Gauge(
            "triton_explorer_jobs_waiting", "Jobs in the queue.", ("device",), registry=self.registry
        )
        self.in_service = Gauge(
            "triton_explorer_devices_in_service",
            "Runners that can do jobs, by device.",
            ("device",),
            registry=self.registry,
        )
        self.running = Gauge(
            "triton_explorer_jobs_running", "Jobs that run at the moment.", registry=self.registry
        )
        self.seconds = Histogram(
            "triton_explorer_job_seconds",
            "Time from the submission of a job to its last event.",
            ("task",),
            buckets=_SECONDS,
            registry=self.registry,
        )

    def exposition(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self.registry)
