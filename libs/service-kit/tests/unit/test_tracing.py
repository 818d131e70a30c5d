"""What a span says of a request, and of the process that served it."""

from __future__ import annotations

import os
from importlib.metadata import version

import httpx2
import pytest
from fastapi import FastAPI
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from service_kit.telemetry import Metrics, RequestTelemetry
from service_kit.tracing import described

CALLER = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    exporter, provider = InMemorySpanExporter(), TracerProvider(resource=described("retrieval"))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", lambda name: provider.get_tracer(name))
    return exporter


async def served(exporter: InMemorySpanExporter, method: str, path: str) -> ReadableSpan:
    """Returns the one span of a request to a small service."""
    app = FastAPI()
    app.add_middleware(RequestTelemetry, metrics=Metrics())

    @app.get("/v1/documents/{document_id}")
    async def read(document_id: str) -> str:
        if document_id == "broken":
            raise ZeroDivisionError
        return document_id

    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://retrieval") as client:
        await client.request(method, path, headers={"traceparent": f"00-{CALLER}-b7ad6b7169203331-01"})
    [one] = exporter.get_finished_spans()
    return one


@pytest.mark.parametrize(
    ("method", "path", "name", "status"),
    [
        ("GET", "/v1/documents/secret-1", "GET /v1/documents/{document_id}", 200),
        ("GET", "/v1/documents/broken", "GET /v1/documents/{document_id}", 500),
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
    assert one.attributes == {
        "http.request.method": wanted,
        "http.route": route,
        "http.response.status_code": status,
    }
    assert (one.status.status_code is StatusCode.ERROR) is (status == 500)
    assert "secret" not in one.to_json()


async def test_a_span_carries_process_name_and_version(exporter: InMemorySpanExporter) -> None:
    told = (await served(exporter, "GET", "/v1/documents/1")).resource.attributes
    assert (told["service.name"], told["service.version"]) == ("retrieval", version("attractor-service-kit"))
    assert str(told["service.instance.id"]).endswith(f"-{os.getpid()}")
