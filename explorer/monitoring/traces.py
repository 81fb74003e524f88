"""Traces: spans of requests and jobs, sent to a collector by OTLP over HTTP. Off until `configure_traces`.

A span is a child of the span in the current context, which may belong to another process. The libraries of
OpenTelemetry are optional, and imported when traces are on.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from explorer.errors import SettingsError
from explorer.monitoring.work_context import WorkContext, current_work_context, working_for

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span as OtelSpan

_SERVICE = "triton-explorer"
_END_SECONDS = 3.0
_NANOSECONDS = 1_000_000_000

Attribute = str | int | float | bool


class _Traces:
    """Makes spans of OpenTelemetry, and sends them in the background.

    Raises:
        SettingsError: the libraries are not installed.
    """

    def __init__(self, url: str) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import SERVICE_NAME, Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
            from opentelemetry.trace import set_span_in_context
            from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
        except ImportError as error:
            raise SettingsError(
                "TRITON_EXPLORER_TRACES_URL is set, but OpenTelemetry is not installed. "
                "Install triton-explorer[telemetry]."
            ) from error
        resource = Resource.create({SERVICE_NAME: _SERVICE})
        self._provider: TracerProvider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._processor = BatchSpanProcessor(OTLPSpanExporter(endpoint=url, timeout=_END_SECONDS))
        self._provider.add_span_processor(self._processor)
        self._tracer = self._provider.get_tracer(_SERVICE)
        self._propagator = TraceContextTextMapPropagator()
        self._in_context = set_span_in_context

    def start(self, name: str, parent: WorkContext, begin_ns: int | None = None) -> OtelSpan:
        """Start a span. `begin_ns` is its start by the system clock; None: now."""
        context = self._propagator.extract({"traceparent": parent.traceparent})
        span = self._tracer.start_span(name, context, start_time=begin_ns)
        for key, value in (("request_id", parent.request_id), ("job_id", parent.job_id)):
            if value:
                span.set_attribute(key, value)
        return span

    def traceparent(self, span: OtelSpan) -> str:
        """Return the name of a span for other processes."""
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier, self._in_context(span))
        return carrier.get("traceparent", "")

    def close(self) -> None:
        """Send the remaining spans, for a few seconds at most."""
        self._provider.shutdown()


_traces: _Traces | None = None


def configure_traces(url: str) -> None:
    """Send traces to a collector, such as `http://127.0.0.1:4318/v1/traces`. Call it after the last fork.

    Raises:
        SettingsError: the libraries of OpenTelemetry are not installed.
    """
    global _traces
    _traces = _Traces(url)


def end_traces() -> None:
    """Send the remaining spans, and stop making spans."""
    global _traces
    ended, _traces = _traces, None
    if ended is not None:
        ended.close()


class Span:
    """A running span; without traces, nothing."""

    def __init__(self, span: OtelSpan | None = None) -> None:
        self._span = span

    def rename(self, name: str) -> None:
        if self._span is not None:
            self._span.update_name(name)

    def set(self, **attributes: Attribute) -> None:
        if self._span is not None:
            self._span.set_attributes(attributes)


_NO_SPAN = Span()


@contextmanager
def span(name: str, *, ago_seconds: float = 0.0, **attributes: Attribute) -> Iterator[Span]:
    """Make a span of the block, which began `ago_seconds` earlier. Work in the block belongs to the span."""
    traces = _traces
    if traces is None:
        yield _NO_SPAN
        return
    parent = current_work_context()
    begun = traces.start(name, parent, time.time_ns() - int(ago_seconds * _NANOSECONDS))
    begun.set_attributes(attributes)
    try:
        with working_for(replace(parent, traceparent=traces.traceparent(begun))):
            yield Span(begun)
    finally:
        begun.end()


def add_span(name: str, seconds: float, **attributes: Attribute) -> None:
    """Make a span that ends now and took some time."""
    traces = _traces
    if traces is None:
        return
    now_ns = time.time_ns()
    ended = traces.start(name, current_work_context(), now_ns - int(seconds * _NANOSECONDS))
    ended.set_attributes(attributes)
    ended.end(now_ns)
