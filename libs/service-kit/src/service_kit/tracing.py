"""W3C trace context over HTTP, Celery and events; exported by OTLP when an endpoint is set."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version

from opentelemetry import propagate, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind


def configure_tracing(service: str, endpoint: str | None) -> None:
    """Creates spans (so that every log line has a trace id); sends them only if `endpoint` is set."""
    provider = TracerProvider(resource=described(service))
    if endpoint:
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{endpoint.rstrip('/')}/v1/traces")))
    trace.set_tracer_provider(provider)


def described(service: str) -> Resource:
    """Returns the OpenTelemetry resource: the service, its version, and the process."""
    instance = f"{socket.gethostname()}-{os.getpid()}"  # the name of its consumers in Redis
    return Resource.create(
        {
            "service.name": service,
            "service.version": version("attractor-service-kit"),
            "service.instance.id": instance,
        }
    )


def current_trace_id() -> str | None:
    """Returns the trace's 32 hex digits, or None outside a span."""
    context = trace.get_current_span().get_span_context()
    return format(context.trace_id, "032x") if context.is_valid else None


def outgoing_headers() -> dict[str, str]:
    """Returns `traceparent` (and `tracestate`) of the current span, for an outgoing request, task or event."""
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return carrier


@contextmanager
def span(
    name: str, carrier: Mapping[str, str] | None = None, kind: SpanKind = SpanKind.INTERNAL
) -> Iterator[trace.Span]:
    """Opens a span that continues the trace in `carrier` (headers or an event's traceparent)."""
    context = propagate.extract(carrier) if carrier else None
    with trace.get_tracer("attractor").start_as_current_span(name, context, kind) as current:
        yield current
