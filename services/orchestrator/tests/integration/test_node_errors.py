"""A node that fails costs the turn what it would have added, and nothing else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from redis.asyncio import Redis

from contracts.run_events import RUN_EVENTS
from orchestrator.graphs.conversation.routing import path_of

NODES = "orchestrator.graphs.conversation.nodes"
TERMINAL = {event.name for event in RUN_EVENTS if event.terminal}


def broken(*_: Any, **__: Any) -> Any:
    raise ZeroDivisionError("secret detail")


def shown(events: list[Any]) -> str:
    """Returns what the deltas alone show."""
    text = ""
    for event in events:
        if event.name == "message_restarted":
            text = ""
        elif event.name == "message_delta":
            text += event.data["text"]
    return text


@pytest.mark.parametrize(
    ("what", "mode", "answer", "citations"),
    [
        ("generate_path.path_of", "extractive", "“Choosing the way” failed because of an internal error", 0),
        ("retrieve.asking", "extractive", "“Searching the documents” failed because of", 0),
        ("reply_to_general_input.quoted", "extractive", "not a whole answer. This had been found: auth.md", 0),
        ("reply_to_general_input.numbered", "model", "This had been found:\n\n", 1),
        ("verify_citations.verified", "model", "Tokens expire after fifteen minutes. Also.\n\nThe citations of", 0),
        ("generate_title.trimmed", "model", "Tokens expire after fifteen minutes [1].", 1),
    ],
)
async def test_a_failed_node_is_named_in_an_answer_that_keeps_the_retrieved_passages(
    start: Any,
    settings: Any,
    model_settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
    mode: str,
    answer: str,
    citations: int,
) -> None:
    monkeypatch.setattr(f"{NODES}.{what}", broken)
    async with start(model_settings if mode == "model" else settings) as service, asyncio.timeout(120):
        run = await service.ask(await service.session())
        events = await service.events(run["id"])
        ended = await service.run(run["id"])
    issue = f"{what.partition('.')[0]} failed: ZeroDivisionError"
    assert (ended["status"], ended["attempts"], ended["issues"]) == ("completed", 1, [issue])
    assert [event.data["message"] for event in events if event.name == "issue"] == [issue]
    assert answer in ended["answer"]["content"]
    assert len(ended["answer"]["citations"]) >= citations
    assert (len(ended["answer"]["citations"]) > 0) is (citations > 0)
    assert shown(events) == ended["answer"]["content"]
    assert "secret" not in str([event.data for event in events])


async def test_each_node_has_a_span_with_its_name_and_status_in_the_trace_of_the_turn(
    start: Any, settings: Any, exporter: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{NODES}.verify_citations.verified", broken)
    async with start(settings) as service, asyncio.timeout(120):
        run = await service.ask(await service.session(title="t"))
        await service.events(run["id"])
    spans = exporter.get_finished_spans()
    (whole,) = (one for one in spans if one.name == "run")
    nodes = {one.name.removeprefix("node "): one for one in spans if one.name.startswith("node ")}
    assert {name: one.status.status_code for name, one in nodes.items()} == {
        "generate_path": StatusCode.OK,
        "retrieve": StatusCode.OK,
        "reply_to_general_input": StatusCode.OK,
        "verify_citations": StatusCode.ERROR,
        "error_handler": StatusCode.OK,
        "clean_state": StatusCode.OK,
    }
    assert {one.parent.span_id for one in nodes.values()} == {whole.context.span_id}
    assert whole.attributes["attractor.run_id"] == run["id"]
    parent_span = next(one for one in spans if one.context.span_id == whole.parent.span_id)
    assert {one.context.trace_id for one in nodes.values()} == {parent_span.context.trace_id}


async def test_each_call_of_a_chat_model_is_in_the_trace_of_the_turn(
    start: Any, model_settings: Any, exporter: InMemorySpanExporter
) -> None:
    async with start(model_settings) as service, asyncio.timeout(120):
        run = await service.ask(await service.session(title="t"))
        await service.events(run["id"])
    spans = exporter.get_finished_spans()
    (whole,) = (one for one in spans if one.name == "run")
    calls = [one for one in spans if one.name == "chat"]
    assert "answer" in {one.attributes["attractor.role"] for one in calls}
    assert {one.context.trace_id for one in calls} == {whole.context.trace_id}
    assert all(one.attributes["gen_ai.request.model"] and one.kind is SpanKind.CLIENT for one in calls)


@pytest.mark.parametrize("broken_at", ["retrieve.asking", "verify_citations.verified"])
async def test_the_answer_of_the_error_handler_is_neither_remembered_nor_learned_from(
    start: Any, model_settings: Any, redis_url: str, monkeypatch: pytest.MonkeyPatch, broken_at: str
) -> None:
    async with start(model_settings) as service, Redis.from_url(redis_url) as redis, asyncio.timeout(120):
        session = await service.session()
        with monkeypatch.context() as patched:
            patched.setattr(f"{NODES}.{broken_at}", broken)
            failed = await service.ask(session)
            await service.events(failed["id"])
        told = {"type": ""}
        while not told["type"].startswith("turn."):
            await asyncio.sleep(0.02)  # another server's state has no event
            events = [json.loads(fields[b"event"]) for _, fields in await redis.xrange("attractor.turns")]
            told = next((event for event in events if event["type"].startswith("turn.")), told)
    # Events leave in the order in which they were written.
    assert (told["type"], told["data"]["run_id"]) == ("turn.discarded.v1", failed["id"])
    assert told["data"].keys() == {"session_id", "run_id", "user_id"}


async def test_a_node_that_fails_midway_voids_the_streamed_text(
    start: Any, model_settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orchestrator.citations.check.MarkerFilter.end", broken)
    async with start(model_settings) as service, asyncio.timeout(120):
        run = await service.ask(await service.session())
        events = await service.events(run["id"])
        ended = await service.run(run["id"])
    assert "message_restarted" in [event.name for event in events]
    assert shown(events) == ended["answer"]["content"]
    assert ended["answer"]["content"].startswith("“Writing the answer” failed")


async def test_an_error_in_the_graph_ends_the_run_with_a_named_error(
    start: Any, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{NODES}.generate_path.path_of", lambda _: None)
    async with start(settings) as service, asyncio.timeout(120):
        session = await service.session()
        run = await service.ask(session)
        events = await service.events(run["id"])
        ended = await service.run(run["id"])
        messages = (await service.client.get(f"/v1/sessions/{session}/messages")).json()["items"]
    assert [event.name for event in events if event.name in TERMINAL] == ["run_failed"]
    assert (events[-1].data["error_type"], events[-1].data["stage"]) == ("routing-error", "generate_path")
    assert (ended["status"], ended["attempts"], ended["error_type"]) == ("failed", 1, "routing-error")
    assert ended["error_message"] == events[-1].data["message"]
    assert [(one["role"], one["status"], one["content"]) for one in messages] == [
        ("user", "completed", "How long are tokens valid?"),
        ("assistant", "failed", ""),
    ]


async def test_a_database_outage_costs_one_attempt(start: Any, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async with start(settings) as service, asyncio.timeout(120):
        monkeypatch.setattr(f"{NODES}.generate_path.path_of", failing_once(path_of))
        run = await service.ask(await service.session())
        await service.events(run["id"])
        ended = await service.run(run["id"])
    assert (ended["status"], ended["attempts"]) == ("completed", 2)
    assert ended["issues"] == []


def failing_once(function: Callable[[str], str]) -> Callable[[str], str]:
    calls: list[str] = []

    def called(question: str) -> str:
        calls.append(question)
        if len(calls) == 1:
            raise psycopg.OperationalError("the server closed the connection")
        return function(question)

    return called


async def test_a_run_fails_if_the_error_handler_keeps_failing(
    start: Any, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{NODES}.generate_path.path_of", broken)
    monkeypatch.setattr(f"{NODES}.error_handler.MessageDelta", broken)
    async with start(settings) as service, asyncio.timeout(120):
        run = await service.ask(await service.session())
        events = await service.events(run["id"])
        ended = await service.run(run["id"])
        metrics = (await service.client.get("/metrics")).text
    assert [event.name for event in events if event.name in TERMINAL] == ["run_failed"]
    assert events[-1].data["stage"] == "error_handler"
    assert "secret" not in events[-1].data["message"]
    assert (ended["status"], ended["attempts"], ended["error_type"]) == ("failed", 3, "internal-error")
    assert 'attractor_run_attempts_total{result="retried"} 2.0' in metrics
