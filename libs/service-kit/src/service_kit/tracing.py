"""W3C trace context over HTTP, Celery and events; exported by OTLP when an endpoint is set."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from opentelemetry import propagate, trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import Link, SpanKind, StatusCode

from service_kit.version import VERSION


def configure_tracing(service: str, endpoint: str | None) -> None:
    """Gives every request a trace id, for its log lines; spans are recorded and sent only if `endpoint` is set."""
    provider = TracerProvider(sampler=None if endpoint else ALWAYS_OFF, resource=described(service))
    if endpoint:
        # Imported here because it takes a tenth of a second, in every process, and most send nothing.
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415

        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{endpoint.rstrip('/')}/v1/traces")))
    trace.set_tracer_provider(provider)


def described(service: str) -> Resource:
    """Returns the OpenTelemetry resource: the service, its version, and the process."""
    instance = f"{socket.gethostname()}-{os.getpid()}"  # the name of its consumers in Redis
    return Resource.create(
        {
            "service.name": service,
            "service.version": VERSION,
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
    name: str,
    carrier: Mapping[str, str] | None = None,
    kind: SpanKind = SpanKind.INTERNAL,
    linked: Sequence[Mapping[str, str]] = (),
) -> Iterator[trace.Span]:
    """Opens a span that continues the trace in `carrier` (headers or an event's traceparent).

    It links to the spans in the carriers `linked`, which caused it as well.
    """
    context = propagate.extract(carrier) if carrier else None
    links = [Link(trace.get_current_span(propagate.extract(one)).get_span_context()) for one in linked]
    tracer = trace.get_tracer("attractor")
    # An exception's message may quote what a user wrote, so only its class is recorded, by `_failing`.
    opened = tracer.start_as_current_span(
        name, context, kind, links=links, record_exception=False, set_status_on_exception=False
    )
    with opened as current, _failing(current):
        yield current


@contextmanager
def store_call(name: str) -> Iterator[None]:
    """Records a call to a store as a span of the current trace. Outside a trace, as in polling, it records nothing."""
    if not trace.get_current_span().is_recording():
        yield
        return
    called = trace.get_tracer("attractor").start_span(name, kind=SpanKind.CLIENT)
    try:
        with _failing(called):
            yield
    finally:
        called.end()


def model_call(name: str, seconds: float, attributes: Mapping[str, str], *, succeeded: bool) -> None:
    """Records a call to a model that has just ended, like `store_call`."""
    if not trace.get_current_span().is_recording():
        return
    began = time.time_ns() - int(1e9 * seconds)
    tracer = trace.get_tracer("attractor")
    called = tracer.start_span(name, kind=SpanKind.CLIENT, attributes=dict(attributes), start_time=began)
    if not succeeded:
        called.set_status(StatusCode.ERROR)
    called.end()


@contextmanager
def _failing(current: trace.Span) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        current.set_status(StatusCode.ERROR)
        current.set_attribute("error.type", type(error).__qualname__)
        raise
