"""Metrics that belong to the process, not to one application: of the database, the blobs, the sandboxes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
)

disable_created_metrics()  # type: ignore[no-untyped-call]  # they would double the number of series
REGISTRY = CollectorRegistry()
ProcessCollector(registry=REGISTRY)

#: From a statement of SQLite to a store that does not answer.
_BUCKETS_SECONDS = (0.0005, 0.002, 0.01, 0.05, 0.2, 1, 5)

database_seconds = Histogram(
    "triton_explorer_database_seconds",
    "Time of a statement of the database.",
    ("operation",),
    buckets=_BUCKETS_SECONDS,
    registry=REGISTRY,
)
database_errors = Counter(
    "triton_explorer_database_errors", "Statements that failed, by reason.", ("kind",), registry=REGISTRY
)
blob_seconds = Histogram(
    "triton_explorer_blob_seconds",
    "Time to read or write a text in the folder or the S3 store.",
    ("store", "operation"),
    buckets=_BUCKETS_SECONDS,
    registry=REGISTRY,
)
blob_errors = Counter(
    "triton_explorer_blob_errors",
    "Texts that could not be read or written.",
    ("store", "operation"),
    registry=REGISTRY,
)
blob_cache = Counter(
    "triton_explorer_blob_cache_reads",
    "Requested texts of an S3 store: read from the folder of copies (hit), or from the store (miss).",
    ("result",),
    registry=REGISTRY,
)
for _result in ("hit", "miss"):
    blob_cache.labels(_result)  # a rate needs the 0 before the first access
#: The reasons are defined in `explorer.sandbox.stop_reason`.
sandbox_stops = Counter(
    "triton_explorer_sandbox_stops",
    "Jobs that ended without a result: limits, crashes, cancellations.",
    ("reason",),
    registry=REGISTRY,
)
sandbox_replacements = Counter(
    "triton_explorer_sandbox_replacements",
    "Slots that were replaced after a failure.",
    ("triton",),
    registry=REGISTRY,
)


@contextmanager
def timed_blob(
    store: str, operation: str, expected: type[Exception] | tuple[type[Exception], ...] = ()
) -> Iterator[None]:
    """Measure the time of the block, and count an exception as an error, unless it is expected."""
    errors, begin = blob_errors.labels(store, operation), time.perf_counter()
    try:
        yield
    except expected:
        raise
    except Exception:  # counted, whatever a store raises, and raised again
        errors.inc()
        raise
    finally:
        blob_seconds.labels(store, operation).observe(time.perf_counter() - begin)
