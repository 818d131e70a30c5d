"""Deletion of a session: its receipt, its announcement, and that nothing comes back."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID, uuid4

import psycopg
from redis.asyncio import Redis
from redis.exceptions import RedisError

from contracts.events import TURNS, Event, SessionDeleted
from contracts.run_events import run_stream
from service_kit.auth import ServiceCaller
from service_kit.owners import SESSION_USERS_PATH, SESSIONS_PATH

KINDS = {"messages", "runs", "events", "artifact_versions", "attachments", "checkpoints", "streams"}


def counted(url: str, statement: str, *values: object) -> int:
    with psycopg.connect(url, options="-c app.scope=system") as connection:
        row = connection.execute(statement.encode(), values).fetchone()
    return int(row[0]) if row else -1


async def published(redis: Redis, *kinds: str) -> list[Event]:
    """Waits until there are as many events of turns; returns those of the last kind."""
    async with asyncio.timeout(120):
        while True:
            every = [Event.model_validate_json(fields["event"]) for _, fields in await redis.xrange(TURNS)]
            events = [event for event in every if not event.type.endswith(".changed.v1")]
            if [event.type for event in events] == list(kinds):
                return [event for event in events if event.type == kinds[-1]]
            await asyncio.sleep(0.05)  # another server's state has no event


async def test_the_receipt_counts_what_was_deleted_and_states_that_nothing_remains(
    start: Any, model_settings: Any, redis_url: str
) -> None:
    async with start(model_settings) as service, Redis.from_url(redis_url, decode_responses=True) as redis:
        session, other = await service.session(), await service.session()
        runs = [await service.ask(one) for one in (session, session, other)]
        for run in runs:
            await service.events(run["id"])
        receipt = (await service.client.delete(f"/v1/sessions/{session}")).json()
        assert receipt["session_id"] == session
        assert receipt["removed"].keys() == receipt["remaining"].keys() == KINDS
        assert set(receipt["remaining"].values()) == {0}
        removed = receipt["removed"]
        assert (removed["messages"], removed["runs"], removed["streams"]) == (4, 2, 2)
        assert removed["events"] > 4
        [event] = await published(redis, *["turn.completed.v2"] * 3, "session.deleted.v1")
        assert SessionDeleted.model_validate(event.data).session_id == UUID(session)
        assert event.source == "orchestrator"
        assert (await service.client.get(f"/v1/runs/{runs[0]['id']}")).status_code == 404
        assert (await service.client.get(f"/v1/runs/{runs[2]['id']}")).json()["status"] == "completed"
        assert await redis.exists(*(run_stream(UUID(run["id"])) for run in runs)) == 1


async def test_a_run_in_progress_is_cancelled_first_and_leaves_nothing(
    start: Any, model_settings: Any, world: Any, redis_url: str
) -> None:
    writing, url = asyncio.Event(), model_settings.database_url.get_secret_value()

    async def forever(_: int) -> None:
        writing.set()
        await asyncio.Event().wait()

    world.pace = forever
    async with (
        start(model_settings) as service,
        Redis.from_url(redis_url, decode_responses=True) as redis,
        asyncio.timeout(120),
    ):
        session = await service.session()
        running, waiting = await service.ask(session), await service.ask(session)
        await writing.wait()
        assert counted(url, "SELECT count(*) FROM checkpoints WHERE thread_id = %s", running["id"]) > 0
        following = await service.following(running["id"])
        receipt = (await service.client.delete(f"/v1/sessions/{session}")).json()
        assert (receipt["removed"]["runs"], receipt["removed"]["messages"]) == (2, 4)
        assert receipt["removed"]["checkpoints"] > 0
        assert set(receipt["remaining"].values()) == {0}
        assert (await following)[-1].name == "run_cancelled"
        await published(redis, "session.deleted.v1")
    # The process has ended: whatever it wrote last is gone, too.
    assert world.chats_cut == 1
    for table, column in (("checkpoints", "thread_id"), ("checkpoint_writes", "thread_id"), ("run", "id::text")):
        both = f"SELECT count(*) FROM {table} WHERE {column} = ANY(%s)"
        assert counted(url, both, [running["id"], waiting["id"]]) == 0, table


async def test_without_redis_the_receipt_states_what_may_remain(start: Any, settings: Any, monkeypatch: Any) -> None:
    async def away(*_: object) -> None:
        raise RedisError

    async with start(settings) as service:
        session = await service.session()
        await service.events((await service.ask(session))["id"])
        with monkeypatch.context() as patched:
            patched.setattr(Redis, "delete", away)
            receipt = (await service.client.delete(f"/v1/sessions/{session}")).json()
        gone = await service.client.get(f"/v1/sessions/{session}")
    assert receipt["remaining"] == dict.fromkeys(KINDS, 0) | {"streams": 1}
    assert gone.status_code == 404


async def test_only_memory_can_ask_which_sessions_are_deleted_and_whose_they_were(
    start: Any, settings: Any, token_keys: Any, workspace_id: UUID, principal: Any
) -> None:
    async with start(settings) as service:
        gone, living, passing = await service.session(), await service.session(), await service.session(temporary=True)
        await service.client.delete(f"/v1/sessions/{gone}")
        body = {"session_ids": [gone, living, passing, str(uuid4())]}

        async def request(name: str, workspace: UUID = workspace_id, path: str = SESSIONS_PATH) -> Any:
            token = token_keys.tokens(name).sign(ServiceCaller(name, workspace), "orchestrator")
            headers = {"Authorization": f"Bearer {token}"}
            return await service.client.post(path, json=body, headers=headers)

        assert (await request("memory")).json() == {"deleted": [gone]}
        assert (await request("memory", uuid4())).json() == {"deleted": []}
        assert (await request("memory", path=SESSION_USERS_PATH)).json() == {"users": {living: str(principal.user_id)}}
        assert (await request("memory", uuid4(), SESSION_USERS_PATH)).json() == {"users": {}}
        for path in (SESSIONS_PATH, SESSION_USERS_PATH):
            assert (await request("retrieval", path=path)).status_code in {401, 403}
            assert (await service.client.post(path, json=body)).status_code == 403


async def test_a_deletion_with_a_stale_version_ends_no_run(start: Any, model_settings: Any, world: Any) -> None:
    writing, go = asyncio.Event(), asyncio.Event()

    async def held(_: int) -> None:
        writing.set()
        await go.wait()

    world.pace = held
    async with start(model_settings) as service, asyncio.timeout(120):
        session = await service.session(title="Kept")
        run = await service.ask(session)
        await writing.wait()
        refused = await service.client.delete(f"/v1/sessions/{session}", headers={"If-Match": '"7"'})
        go.set()
        events = await service.events(run["id"])
    assert refused.status_code == 412
    assert events[-1].name == "run_completed"
