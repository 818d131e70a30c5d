"""Calls to Neo4j as a trace shows them."""

from __future__ import annotations

from uuid import uuid4

import pytest
from held_port import held_port
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from knowledge_graph.errors import StoreUnavailable
from knowledge_graph.neo4j.connection import Neo4jConnection
from knowledge_graph.settings import Neo4jSettings
from service_kit.tracing import span


async def test_a_call_to_neo4j_is_in_the_trace_of_who_called_and_shows_no_statement(
    exporter: InMemorySpanExporter,
) -> None:
    with held_port() as port:
        settings = Neo4jSettings(neo4j_url=f"bolt://127.0.0.1:{port}", neo4j_user="neo4j", neo4j_password="x")
        connection = Neo4jConnection(settings)
        with span("request"), pytest.raises(StoreUnavailable):
            await connection.read("RETURN 'secret' AS rows", uuid4())
        await connection.aclose()
    called, request = exporter.get_finished_spans()
    assert (called.name, called.kind, called.parent) == ("neo4j transaction", SpanKind.CLIENT, request.context)
    assert called.status.status_code is StatusCode.ERROR
    assert "secret" not in called.to_json()
