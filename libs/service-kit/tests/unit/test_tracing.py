"""What a span says of a request, and of the process that served it."""

from __future__ import annotations

import os
from contextlib import suppress
from importlib.metadata import version

import httpx2
import pytest
from fastapi import FastAPI, HTTPException
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from service_kit.telemetry import QUIET_PATHS, Metrics, RequestTelemetry
from service_kit.tracing import configure_tracing, current_trace_id, model_call, outgoing_headers, span, store_call

CALLER = "0af7651916cd43dd8448eb211c80319c"


async def served(exporter: InMemorySpanExporter, method: str, path: str) -> ReadableSpan:
    """Returns the one span of a request to a small service."""
    app = FastAPI()
    app.add_middleware(RequestTelemetry, metrics=Metrics())

    @app.get("/v1/documents/{document_id}")
    async def read(document_id: str) -> str:
        if document_id == "broken":
            raise ZeroDivisionError("secret-0")
        if document_id == "away":
            raise HTTPException(503)
        return document_id

    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://retrieval") as client:
        await client.request(method, path, headers={"traceparent": f"00-{CALLER}-b7ad6b7169203331-01"})
        for quiet in sorted(QUIET_PATHS):  # who checks a service each second has no trace
            await client.get(quiet)
    [one] = exporter.get_finished_spans()
    return one


@pytest.mark.parametrize(
    ("method", "path", "name", "status"),
    [
        ("GET", "/v1/documents/secret-1", "GET /v1/documents/{document_id}", 200),
        ("GET", "/v1/documents/broken", "GET /v1/documents/{document_id}", 500),
        ("GET", "/v1/documents/away", "GET /v1/documents/{document_id}", 503),
        ("GET", "/secret-2", "GET unmatched", 404),
        ("BREW", "/secret-3", "other unmatched", 404),
    ],
)
async def test_a_span_is_named_after_its_route_and_carries_no_user_input(
    exporter: InMemorySpanExporter, method: str, path: str, name: str, status: int
) -> None:
    one = await served(exporter, method, path)
    assert (one.name, one.kind, f"{one.context.trace_id:032x}") == (name, SpanKind.SERVER, CALLER)
    wanted, _, route = name.partition(" ")
    failure = {"error.type": "ZeroDivisionError"} if status == 500 else {}
    assert one.attributes == {
        "http.request.method": wanted,
        "http.route": route,
        "http.response.status_code": status,
        **failure,
    }
    assert (one.status.status_code is StatusCode.ERROR) is (status >= 500)
    assert "secret" not in one.to_json()


async def test_a_span_carries_process_name_and_version(exporter: InMemorySpanExporter) -> None:
    told = (await served(exporter, "GET", "/v1/documents/1")).resource.attributes
    assert (told["service.name"], told["service.version"]) == ("retrieval", version("attractor-service-kit"))
    assert str(told["service.instance.id"]).endswith(f"-{os.getpid()}")


def test_a_call_to_a_store_or_a_model_belongs_to_the_trace_of_who_called(exporter: InMemorySpanExporter) -> None:
    with suppress(OSError), span("request"), store_call("s3 GetObject"):
        model_call("embeddings", 2.0, {"gen_ai.request.model": "small"}, succeeded=True)
        raise OSError("secret-4 cannot be read")
    model, store, request = exporter.get_finished_spans()
    assert (model.name, store.name) == ("embeddings", "s3 GetObject")
    for called in (model, store):
        assert (called.kind, called.parent) == (SpanKind.CLIENT, request.context)
    assert (model.end_time or 0) - (model.start_time or 0) >= 2e9
    assert store.status.status_code is StatusCode.ERROR
    assert "secret" not in store.to_json() + request.to_json()


def test_without_an_endpoint_a_request_has_a_trace_id_that_others_continue_and_nothing_is_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[trace.TracerProvider] = []
    monkeypatch.setattr(trace, "set_tracer_provider", made.append)
    configure_tracing("retrieval", None)
    monkeypatch.setattr(trace, "get_tracer", made[0].get_tracer)
    with span("request", {"traceparent": f"00-{CALLER}-b7ad6b7169203331-01"}) as request, store_call("redis script"):
        assert (current_trace_id(), outgoing_headers()["traceparent"].split("-")[1]) == (CALLER, CALLER)
        assert not request.is_recording()
    with span("request"):
        assert current_trace_id()


def test_work_that_belongs_to_no_request_records_no_calls(exporter: InMemorySpanExporter) -> None:
    with store_call("postgresql transaction"):
        model_call("embeddings", 2.0, {}, succeeded=True)
    assert exporter.get_finished_spans() == ()
