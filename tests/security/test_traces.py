"""Traces as a collector receives them: one per request, across all services, without a word of what users wrote."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections.abc import Sequence
from importlib.metadata import version

import httpx2
import pytest
from api_calls import PATIENCE, Tenant, events_of, processed
from otlp_receiver import OtlpReceiver, ReceivedSpan, of_trace
from stack import EmbeddedStack

from contracts.events import DocumentConverted, TurnCompleted

WORD = "Quokkafen"
FILE_NAME = "wombatrota.md"
PAGE = f"# {WORD}\n\nThe {WORD} service is owned by the Numbatcrew team and depends on the Bilbystore database.\n"
QUESTION = f"Which team owns the {WORD} service?"
WRITTEN = (WORD, "Numbatcrew", "Bilbystore", "Which team", "wombatrota")
IDENTIFIER = re.compile(r"[0-9a-f]{8}|\d{3}")
UPLOADED = {
    ("gateway", "POST /v1/documents"),
    ("ingestion", "POST /v1/documents"),
    ("ingestion", "s3 PutObject"),
    ("ingestion", "postgresql transaction"),
    ("ingestion-worker", "ingestion.process_document"),
    ("retrieval", f"retrieval {DocumentConverted.event_type}"),
    ("knowledge-graph", f"knowledge-graph {DocumentConverted.event_type}"),
}
ASKED = {
    ("gateway", "POST /v1/sessions"),  # what it forwards is named by prefix
    ("gateway", "redis script"),
    ("orchestrator", "POST /v1/sessions/{session_id}/messages"),
    ("orchestrator", "run"),
    ("orchestrator", "redis XADD"),
    ("retrieval", "POST /v1/search"),
    ("retrieval", "embeddings"),
    ("retrieval", "postgresql transaction"),
    ("knowledge-graph", "POST /v1/graph/expand"),
    ("memory", "POST /v1/memories/recall"),
    ("memory", f"memory {TurnCompleted.event_type}"),
}


def new_trace() -> tuple[str, dict[str, str]]:
    """Returns the id of a caller's trace, and the header that continues it."""
    trace_id = secrets.token_hex(16)
    return trace_id, {"traceparent": f"00-{trace_id}-{secrets.token_hex(8)}-01"}


def steps(spans: Sequence[ReceivedSpan]) -> set[tuple[str, str]]:
    return {(span.service, span.name) for span in spans}


async def received(receiver: OtlpReceiver, trace_id: str, expected: set[tuple[str, str]]) -> None:
    """Waits until the trace has the expected steps."""
    await asyncio.to_thread(receiver.wait_for, trace_id, lambda spans: expected <= steps(spans), PATIENCE)
    assert expected - steps(of_trace(receiver.spans, trace_id)) == set()


async def upload(http: httpx2.AsyncClient, headers: dict[str, str]) -> None:
    answer = await http.post("/v1/documents", files=[("files", (FILE_NAME, PAGE.encode()))], headers=headers)
    [one] = answer.raise_for_status().json()["files"]
    assert (await processed(http, one["document"]["id"]))["status"] == "searchable"


async def answer(http: httpx2.AsyncClient, headers: dict[str, str]) -> dict[str, object]:
    session = (await http.post("/v1/sessions", json={})).raise_for_status().json()["id"]
    headers = headers | {"Accept": "text/event-stream"}
    path, body = f"/v1/sessions/{session}/messages", {"content": QUESTION}
    async with http.stream("POST", path, json=body, headers=headers) as response:
        return [event async for event in events_of(response)][-1][2]


@pytest.fixture(scope="module")
async def tenant(make_tenant):
    async with make_tenant("traced") as made:
        yield made


async def test_a_trace_follows_a_document_and_a_question_through_all_services_and_tells_nothing_that_was_written(
    receiver: OtlpReceiver, stack: EmbeddedStack, tenant: Tenant
) -> None:
    upload_trace, headers = new_trace()
    await upload(tenant.http, headers)
    await received(receiver, upload_trace, UPLOADED)
    question_trace, headers = new_trace()
    assert (await answer(tenant.http, headers))["citations"]
    await received(receiver, question_trace, ASKED)

    for span in receiver.spans:
        assert not IDENTIFIER.search(span.name), span.name
        told = span.resource
        assert told["service.version"] == version("attractor-service-kit")
        assert told["service.instance.id"]
        if span.is_of_a_request:
            assert span.name == f"{span.attributes['http.request.method']} {span.attributes['http.route']}"
    everything = "\n".join(span.everything for span in receiver.spans)
    key = tenant.http.headers["Authorization"].removeprefix("Bearer ")
    passwords = json.loads(stack.folder.credentials.path.read_text(encoding="utf-8")).values()
    for secret in (*WRITTEN, key, stack.api_key, *passwords):
        assert secret not in everything
