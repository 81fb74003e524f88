"""Metrics of the state of an application, read when Prometheus asks: slots, GPUs, store, event streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from explorer.jobs.fairness import CountByClient
from explorer.jobs.gpu import GpuRunner
from explorer.jobs.health import Health
from explorer.jobs.runners import Runners, SandboxRunner
from explorer.store import Store


class StateCollector(Collector):
    """Reads the state of the services of one application. A worker has no event streams."""

    def __init__(
        self, runners: Runners, store: Store, health: Health, streams: CountByClient | None = None
    ) -> None:
        self._sections: tuple[Callable[[], Iterator[Metric]], ...] = (
            lambda: _slots(runners),
            lambda: _gpus(runners),
            lambda: _store(store),
            lambda: _health(health),
        )
        self._streams = streams

    def describe(self) -> list[Metric]:
        """Return nothing, so that registration does not read the metrics."""
        return []

    def collect(self) -> Iterator[Metric]:
        for section in self._sections:
            yield from section()
        if self._streams is not None:
            yield GaugeMetricFamily(
                "triton_explorer_event_streams", "Open event streams.", value=self._streams.total
            )


def _slots(runners: Runners) -> Iterator[Metric]:
    slots = GaugeMetricFamily(
        "triton_explorer_slots", "Slots of the sandboxes by state.", labels=("device", "triton", "state")
    )
    zygotes = GaugeMetricFamily(
        "triton_explorer_zygotes",
        "Zygotes that the slots of a Triton version share.",
        labels=("device", "triton"),
    )
    for kind in runners:
        counts: dict[tuple[str, str], int] = {}
        shared: dict[str, int] = {}
        for runner in dict.fromkeys(runners[kind]):
            if not isinstance(runner, SandboxRunner | GpuRunner):
                continue
            for pool in runner.sandbox.pool_states():
                for state in ("starting", "idle", "busy", "keeping"):
                    key = pool.version, state
                    counts[key] = counts.get(key, 0) + int(getattr(pool, state))
                shared[pool.version] = shared.get(pool.version, 0) + pool.has_zygote
        for (version, state), count in counts.items():
            slots.add_metric((kind, version, state), count)
        for version, count in shared.items():
            zygotes.add_metric((kind, version), count)
    yield slots
    yield zygotes


def _gpus(runners: Runners) -> Iterator[Metric]:
    labels = ("gpu", "name")
    in_service = GaugeMetricFamily(
        "triton_explorer_gpu_in_service", "Whether jobs can run on a GPU.", labels=labels
    )
    memory = GaugeMetricFamily(
        "triton_explorer_gpu_memory_bytes", "Memory in use on a GPU after its last job.", labels=labels
    )
    jobs = CounterMetricFamily("triton_explorer_gpu_jobs", "Jobs that have run on a GPU.", labels=labels)
    outages = CounterMetricFamily(
        "triton_explorer_gpu_outages", "How often a GPU was taken out of service.", labels=labels
    )
    for runner in runners.get("gpu", ()):
        if isinstance(runner, GpuRunner):
            values = runner.gpu.uuid, runner.gpu.name
            in_service.add_metric(values, runner.problem is None)
            if runner.memory_bytes is not None:
                memory.add_metric(values, runner.memory_bytes)
            jobs.add_metric(values, runner.activity.jobs)
            outages.add_metric(values, runner.outages)
    yield from (in_service, memory, jobs, outages)


def _store(store: Store) -> Iterator[Metric]:
    health = store.health()
    for name, text, value in (
        ("writable", "Whether results can be stored.", not health.problem),
        ("free_bytes", "Free space on the disk of the data folder.", health.free_bytes),
        ("used_bytes", "Space that requests and results take.", health.used_bytes),
        ("quota_bytes", "Space that they may take; 0: no limit.", health.quota_bytes),
        ("requests", "Requests that are stored, with a result or without.", health.requests),
    ):
        yield GaugeMetricFamily(f"triton_explorer_store_{name}", text, value=value)


def _health(health: Health) -> Iterator[Metric]:
    found = GaugeMetricFamily(
        "triton_explorer_slot_success_age_seconds",
        "Time since a kernel was last compiled or run in a kind of slot.",
        labels=("device", "slot", "triton"),
    )
    for slot in health.slots():
        if slot.last_success_seconds is not None:
            found.add_metric((slot.kind, slot.name, slot.triton), slot.last_success_seconds)
    yield found
