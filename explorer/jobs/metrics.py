"""What the operator of a server wants to see on a graph."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60)


class Metrics:
    """Counters of one application, in a registry of their own."""

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
            "Submissions by what answered them: the store, a job in flight, or a new job.",
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
            "How many can do jobs, by what they do them on.",
            ("device",),
            registry=self.registry,
        )
        self.running = Gauge("triton_explorer_jobs_running", "Jobs in the sandbox.", registry=self.registry)
        self.seconds = Histogram(
            "triton_explorer_job_seconds",
            "Time of a job from its submission to its last event.",
            ("task",),
            buckets=_SECONDS,
            registry=self.registry,
        )

    def exposition(self) -> bytes:
        """All of them in the text format of Prometheus."""
        return generate_latest(self.registry)
