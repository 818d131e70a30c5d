"""Runs outlive connections and processes, end once, and can be stopped."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from contracts.run_events import RUN_EVENTS

TERMINAL = {event.name for event in RUN_EVENTS if event.terminal}
PIECES = ["Tokens expire ", "after ", "fifteen ", "minutes ", "[1]."]
WHOLE = "Tokens expire after fifteen minutes [1]."
DEADLINE_SECONDS = 599


class Gate:
    """Lets the model write `open_for` pieces; `closed` is set when it waits for more."""

    def __init__(self, open_for: int) -> None:
        self.open_for, self.closed, self.opened = open_for, asyncio.Event(), asyncio.Event()

    async def __call__(self, at: int) -> None:
        if at >= self.open_for and not self.opened.is_set():
            self.closed.set()
            await self.opened.wait()


def shown(events: list[Any]) -> str:
    """What a client shows that follows the events."""
    text = ""
    for event in events:
        if event.name == "message_delta":
            text += event.data["text"]
        elif event.name == "message_restarted":
            text = ""
        elif event.name == "run_completed":
            text = event.data["content"]
    return text


async def test_a_reconnecting_client_misses_no_event(start: Any, model_settings: Any, world: Any) -> None:
    gate = world.pace = Gate(2)
    world.answer = PIECES
    async with start(model_settings) as service:
        run = await service.ask(await service.session())
        before = []
        async for event in service.follow(run["id"]):
            before.append(event)
            if shown(before).strip() == "Tokens expire after":
                break
        gate.opened.set()
        after = await service.events(run["id"], before[-1].id)
        whole = await service.events(run["id"])
    assert [event.id for event in before + after] == [event.id for event in whole]
    assert shown(before + after) == WHOLE
    assert [event.name for event in whole if event.name in TERMINAL] == ["run_completed"]


async def test_no_event_follows_the_terminal_one(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        run = await service.ask(await service.session())
        events = await service.events(run["id"])
        path = f"/v1/runs/{run['id']}/events"
        again = await service.client.get(path, headers={"Last-Event-ID": events[-1].id})
        bad = await service.client.get(path, headers={"Last-Event-ID": "1-1; DROP"})
    assert again.status_code == 204
    assert bad.status_code == 400


async def test_cancelling_stops_the_model_midway_and_keeps_the_written_text(
    start: Any, model_settings: Any, world: Any
) -> None:
    gate = world.pace = Gate(2)
    world.answer = ["Tokens expire after fifteen minutes [1]. ", "And the ", "accounts", " never do."]
    async with start(model_settings) as service, asyncio.timeout(120):
        session = await service.session()
        run = await service.ask(session)
        events = await followed_until(service, run["id"], "And the")
        cancelled = await service.client.post(f"/v1/runs/{run['id']}/cancel")
        events += await service.events(run["id"], events[-1].id)
        again = await service.client.post(f"/v1/runs/{run['id']}/cancel")
        messages = (await service.client.get(f"/v1/sessions/{session}/messages")).json()["items"]
        gate.opened.set()
    assert cancelled.status_code == 200
    assert [event.name for event in events if event.name in TERMINAL] == ["run_cancelled"]
    assert again.json()["status"] == "cancelled"
    assert [(message["role"], message["status"]) for message in messages] == [
        ("user", "completed"),
        ("assistant", "cancelled"),
    ]
    assert messages[1]["content"] == "Tokens expire after fifteen minutes [1]. And the"
    assert [citation["number"] for citation in messages[1]["citations"]] == [1]
    assert [sentence["status"] for sentence in messages[1]["sentences"]] == ["verified", "unchecked"]
    assert [event.data["content"] for event in events if event.name == "message_completed"] == [messages[1]["content"]]
    assert world.chats_cut == 1


async def test_sentences_that_cannot_be_checked_at_the_end_stay_unchecked(
    start: Any, model_settings: Any, world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.pace = Gate(1)
    world.answer = ["Tokens expire after fifteen minutes [1]. They are short. ", "And"]
    monkeypatch.setattr("orchestrator.graphs.conversation.turn.verified", lambda *_, **__: 1 // 0)
    async with start(model_settings) as service, asyncio.timeout(120):
        run = await service.ask(await service.session())
        events = await followed_until(service, run["id"], "short.")
        await service.client.post(f"/v1/runs/{run['id']}/cancel")
        await service.events(run["id"], events[-1].id)
        answer = (await service.run(run["id"]))["answer"]
    assert (answer["status"], answer["citations"]) == ("cancelled", [])
    assert answer["content"].strip() == "Tokens expire after fifteen minutes. They are short."
    assert [sentence["status"] for sentence in answer["sentences"]] == ["unchecked"] * 2


async def test_a_follower_of_a_waiting_run_is_notified_of_its_end_at_once(
    start: Any, model_settings: Any, world: Any
) -> None:
    world.pace = Gate(0)
    settings = model_settings.model_copy(update={"sse_heartbeat_seconds": 3_600.0})
    async with start(settings) as service, asyncio.timeout(120):
        session = await service.session()
        await service.ask(session)
        second = await service.ask(session, "And then?")
        path = f"/v1/runs/{second['id']}/events"
        async with service.client.stream("GET", path) as response:
            cancelled = await service.client.post(f"/v1/runs/{second['id']}/cancel")
            body = (await response.aread()).decode()
    assert cancelled.json()["status"] == "cancelled"
    assert body.count("event: ") == body.count("event: run_cancelled") == 1


async def test_a_run_of_a_dead_process_is_cancelled_at_once_and_keeps_its_answer(
    start: Any, model_settings: Any, world: Any
) -> None:
    gate = world.title_pace = Gate(0)
    world.answer = PIECES
    async with start(model_settings.model_copy(update={"run_lease_seconds": 3_600.0})) as service, asyncio.timeout(120):
        run = await service.ask(await service.session())
        await gate.closed.wait()
        async with await psycopg.AsyncConnection.connect(model_settings.database_url.get_secret_value()) as connection:
            await connection.execute("SET app.scope = 'system'")
            await connection.execute(
                "UPDATE run SET lease_token = gen_random_uuid(), lease_owner = 'dead', "
                "lease_expires_at = now() - interval '1 second'"
            )
        await service.client.post(f"/v1/runs/{run['id']}/cancel")
        events = await service.events(run["id"])
        ended = await service.run(run["id"])
    assert [event.name for event in events if event.name in TERMINAL] == ["run_cancelled"]
    assert (ended["status"], ended["answer"]["status"], ended["answer"]["content"]) == ("cancelled", "cancelled", WHOLE)
    assert [sentence["status"] for sentence in ended["answer"]["sentences"]] == ["verified"]


async def test_the_text_written_by_the_deadline_is_kept(
    start: Any, model_settings: Any, world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeout, deadlines = asyncio.timeout, list[asyncio.Timeout]()

    def noted(seconds: float | None) -> asyncio.Timeout:
        made = timeout(seconds)
        if seconds == DEADLINE_SECONDS:
            deadlines.append(made)
        return made

    monkeypatch.setattr(asyncio, "timeout", noted)
    world.pace = Gate(2)
    world.answer = PIECES
    async with start(model_settings) as service, asyncio.timeout(120):
        session = await service.session()
        run = await service.ask(session, deadline_seconds=DEADLINE_SECONDS)
        events = await followed_until(service, run["id"], "after")
        for deadline in deadlines:
            deadline.reschedule(asyncio.get_running_loop().time())
        events += await service.events(run["id"], events[-1].id)
        ended = await service.run(run["id"])
        messages = (await service.client.get(f"/v1/sessions/{session}/messages")).json()["items"]
    assert [event.name for event in events if event.name in TERMINAL] == ["run_failed"]
    assert (ended["status"], ended["attempts"], ended["error_type"]) == ("failed", 1, "deadline-passed")
    assert (messages[1]["status"], messages[1]["content"]) == ("incomplete", "Tokens expire after")
    assert ended["answer"]["content"] == "Tokens expire after"
    assert world.chats_cut == 1


async def followed_until(service: Any, run_id: str, text: str) -> list[Any]:
    """Returns the events up to the one that shows the text."""
    events: list[Any] = []
    async for event in service.follow(run_id):
        events.append(event)
        if text in shown(events):
            break
    return events


async def test_waiting_and_finished_runs_can_be_cancelled(start: Any, model_settings: Any, world: Any) -> None:
    gate = world.pace = Gate(0)
    async with start(model_settings) as service:
        session = await service.session()
        first, second = await service.ask(session), await service.ask(session, "And then?")
        await gate.closed.wait()
        waiting = await service.client.post(f"/v1/runs/{second['id']}/cancel")
        (only,) = await service.events(second["id"])
        gate.opened.set()
        await service.events(first["id"])
        ended = await service.client.post(f"/v1/runs/{first['id']}/cancel")
    assert waiting.json()["status"] == "cancelled"
    assert only.name == "run_cancelled"
    assert ended.json()["status"] == "completed"


async def test_the_number_of_waiting_runs_per_user_is_limited(
    start: Any, model_settings: Any, world: Any, other_user: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orchestrator.runs.repository.MOST_QUEUED", 3)
    gate = world.pace = Gate(0)
    async with start(model_settings.model_copy(update={"run_concurrency": 1})) as service, asyncio.timeout(120):
        await service.ask(await service.session())
        await gate.closed.wait()
        paths = [f"/v1/sessions/{await service.session()}/messages" for _ in range(6)]
        answers = await asyncio.gather(*(service.client.post(path, json={"content": "And?"}) for path in paths))
        refused = [answer for answer in answers if answer.status_code == 429]
        mine = await service.client.post("/v1/sessions", json={}, headers=other_user)
        path = f"/v1/sessions/{mine.json()['id']}/messages"
        other = await service.client.post(path, json={"content": "And I?"}, headers=other_user)
        gate.opened.set()
    assert sorted(answer.status_code for answer in answers) == [202] * 3 + [429] * 3
    assert {(one.json()["type"], one.headers["retry-after"]) for one in refused} == {("too-many-queued-runs", "5")}
    assert other.status_code == 202


async def test_a_stopped_process_hands_over_its_runs_at_once(start: Any, model_settings: Any, world: Any) -> None:
    gate = world.pace = Gate(2)
    world.answer = PIECES
    settings = model_settings.model_copy(update={"run_lease_seconds": 3_600.0})
    async with start(settings) as service:
        run = await service.ask(await service.session())
        await gate.closed.wait()
    gate.opened.set()
    async with asyncio.timeout(120), start(settings) as service:
        events = await service.events(run["id"])
        ended = await service.run(run["id"])
    assert shown(events) == WHOLE
    assert "message_restarted" in [event.name for event in events]
    assert ended["attempts"] == 2
    assert len(world.searches) == 1  # the search was checkpointed


@asynccontextmanager
async def process(settings: Any, log: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """Runs the service in its own process, which can be killed."""
    secret = {"token_private_key", "database_url", "redis_url"}
    values = {
        name.upper(): value.get_secret_value() if name in secret else str(value)
        for name, value in settings
        if value is not None and name in settings.model_fields_set
    }
    with log.open("wb") as output:
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "orchestrator", "serve", env={**os.environ, **values}, stdout=output, stderr=output
        )
        try:
            yield child
        finally:
            if child.returncode is None:
                child.kill()
            await child.wait()


@pytest.mark.parametrize(("killed_in", "answers"), [("answer", 3), ("title", 2)])
async def test_a_killed_process_loses_no_run_and_repeats_no_finished_node(
    start: Any,
    model_settings: Any,
    world: Any,
    tmp_path: Path,
    unused_port: int,
    lapse: Any,
    monkeypatch: pytest.MonkeyPatch,
    killed_in: str,
    answers: int,
) -> None:
    # The first run waits for its title as long as the other process takes to start.
    monkeypatch.setattr("orchestrator.graphs.conversation.nodes.generate_title.TIMEOUT_SECONDS", 600.0)
    gate = Gate(2 if killed_in == "answer" else 0)
    world.pace, world.title_pace = (gate, None) if killed_in == "answer" else (None, gate)
    world.answer = PIECES
    settings = model_settings.model_copy(update={"port": unused_port})
    async with start(settings.model_copy(update={"run_concurrency": 1})) as service:
        # The first run keeps this process's only place taken, so that the second one goes to the other process.
        first = await service.ask(await service.session())
        await gate.closed.wait()
        gate.closed.clear()
        async with process(settings, tmp_path / "log") as child:
            run = await service.ask(await service.session())
            async with asyncio.timeout(200):  # a process of its own has much to import
                await gate.closed.wait()
            child.send_signal(signal.SIGKILL)
            await child.wait()
        await lapse(run["id"])
        gate.opened.set()
        async with asyncio.timeout(120):
            events = await service.events(run["id"])
            await service.events(first["id"])
        ended = await service.run(run["id"])
        settled = await service.events(run["id"])
    assert shown(events) == WHOLE
    assert [event.name for event in settled if event.name in TERMINAL] == ["run_completed"]
    assert ended["attempts"] == 2
    assert ended["status"] == "completed"
    assert len(world.searches) == 2
    assert sum("title of three" not in chat["messages"][0]["content"] for chat in world.chats) == answers


async def closed(port: int) -> None:
    """Returns when the process behind the port is stopping, that is, when it accepts no more connections."""
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            return
        writer.close()
        await asyncio.sleep(0.02)


@pytest.mark.parametrize(("drain_seconds", "answers"), [(20.0, 2), (0.5, 3)])
async def test_a_stopping_process_finishes_its_node_and_another_finishes_the_run(
    start: Any, model_settings: Any, world: Any, tmp_path: Path, unused_port: int, drain_seconds: float, answers: int
) -> None:
    gate = world.pace = Gate(2)
    world.answer = PIECES
    changed = {"port": unused_port, "run_drain_seconds": drain_seconds, "run_lease_seconds": 60.0}
    settings = model_settings.model_copy(update=changed)
    async with start(settings.model_copy(update={"run_concurrency": 1, "run_drain_seconds": 0.0})) as service:
        # The first run keeps this process's only place taken, so that the second one goes to the other process.
        first = await service.ask(await service.session())
        await gate.closed.wait()
        gate.closed.clear()
        async with process(settings, tmp_path / "log") as child, asyncio.timeout(200):
            run = await service.ask(await service.session())
            await gate.closed.wait()
            child.send_signal(signal.SIGTERM)
            await closed(unused_port)
            if drain_seconds > 1:
                gate.opened.set()
            await child.wait()
        gate.opened.set()
        async with asyncio.timeout(120):
            events = await service.events(run["id"])
            await service.events(first["id"])
        ended = await service.run(run["id"])
    assert shown(events) == WHOLE
    assert [event.name for event in events if event.name in TERMINAL] == ["run_completed"]
    assert (ended["status"], ended["attempts"], ended["issues"]) == ("completed", 2, [])
    assert ("message_restarted" in [event.name for event in events]) is (answers == 3)
    assert sum("title of three" not in chat["messages"][0]["content"] for chat in world.chats) == answers


async def test_a_run_that_keeps_killing_its_process_fails(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        run = await service.ask(await service.session(title="t"))
        await service.events(run["id"])
    async with await psycopg.AsyncConnection.connect(settings.database_url.get_secret_value()) as connection:
        await connection.execute("SET app.scope = 'system'")
        await connection.execute(
            "UPDATE run SET state = 'running', attempts = 3, attempts_left = 0, lease_token = gen_random_uuid(), "
            "lease_expires_at = now() - interval '1 second', finished_at = NULL"
        )
    async with start(settings) as service, asyncio.timeout(120):
        (terminal,) = (event for event in await service.events(run["id"], "3-0") if event.name in TERMINAL)
        ended = await service.run(run["id"])
    assert terminal.name == "run_failed"
    assert ended["status"] == "failed"
    assert ended["error_type"] == "attempts-exhausted"


async def test_a_late_result_of_a_superseded_attempt_is_discarded(start: Any, model_settings: Any, world: Any) -> None:
    gate = world.pace = Gate(2)
    world.answer = PIECES
    async with start(model_settings) as service:
        session = await service.session()
        run = await service.ask(session)
        await gate.closed.wait()
        async with await psycopg.AsyncConnection.connect(model_settings.database_url.get_secret_value()) as connection:
            await connection.execute("SET app.scope = 'system'")
            await connection.execute(
                "UPDATE run SET attempts = attempts + 1, lease_token = gen_random_uuid(), lease_owner = 'another', "
                "lease_expires_at = now() + interval '1 second'"
            )
        gate.opened.set()
        events = await service.events(run["id"])
        messages = (await service.client.get(f"/v1/sessions/{session}/messages")).json()["items"]
        ended = await service.run(run["id"])
    assert ended["attempts"] == 3  # the other process never came back, so that its lease ran out
    assert [message["role"] for message in messages] == ["user", "assistant"]
    assert [event.name for event in events if event.name in TERMINAL] == ["run_completed"]
    assert shown(events) == WHOLE


async def test_checkpoints_are_deleted_with_the_run(start: Any, settings: Any) -> None:
    async with start(settings) as service:
        run = await service.ask(await service.session())
        await service.events(run["id"])
    async with await psycopg.AsyncConnection.connect(
        settings.database_url.get_secret_value(), autocommit=True
    ) as connection:
        await connection.execute("SET app.scope = 'system'")
        for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
            cursor = await connection.execute(f"SELECT count(*) FROM {table}")
            assert await cursor.fetchone() == (0,), table


async def test_the_turn_is_announced_once_to_other_services(start: Any, settings: Any, completed_turns: Any) -> None:
    async with start(settings) as service:
        session = await service.session()
        run = await service.ask(session)
        await service.events(run["id"])
        [event] = await completed_turns()
    assert event["data"]["run_id"] == run["id"]
    assert event["data"]["question"] == "How long are tokens valid?"


async def test_many_clients_follow_one_run(start: Any, model_settings: Any, world: Any) -> None:
    gate = world.pace = Gate(1)
    world.answer = PIECES
    async with start(model_settings) as service:
        service.client._transport.inner._pool._max_connections = 300
        run = await service.ask(await service.session())
        await gate.closed.wait()
        following: list[Any] = []
        for _ in range(20):  # more at the same time would wait too long for a connection where the machine is slow
            following += await asyncio.gather(*(service.following(run["id"]) for _ in range(10)))
        async with asyncio.timeout(120):
            gate.opened.set()
            seen = await asyncio.gather(*following)
    assert {shown(events) for events in seen} == {WHOLE}


@pytest.mark.parametrize("path", ["", "/events", "/cancel"])
async def test_unknown_runs_are_not_found(
    start: Any, settings: Any, path: str, other_user: Any, auth_headers: Any
) -> None:
    async with start(settings) as service:
        run = await service.ask(await service.session())
        await service.events(run["id"])
        method = "POST" if path == "/cancel" else "GET"
        callers = [(uuid4(), {}), (run["id"], other_user), (run["id"], auth_headers(workspace_id=uuid4()))]
        for run_id, headers in callers:
            response = await service.client.request(method, f"/v1/runs/{run_id}{path}", headers=headers)
            assert response.status_code == 404
            assert response.json()["type"] == "run-not-found"
        assert (await service.client.request(method, f"/v1/runs/nonsense{path}")).status_code == 422
