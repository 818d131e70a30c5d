"""A deleted workspace takes its sessions, runs, checkpoints and streams along, also those of a run under way."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID, uuid4

import psycopg
from redis.asyncio import Redis
from sent_events import send_events

from contracts.events import DOCUMENTS, Event, WorkspaceDeleted, WorkspacePurged
from contracts.run_events import run_stream


async def delete(redis: Redis, workspace_id: UUID) -> WorkspacePurged:
    """Announces the deletion like the gateway; returns the confirmation."""
    await send_events(redis, [WorkspaceDeleted()], workspace_id)
    async with asyncio.timeout(120):
        while True:
            for _, fields in await redis.xrange(DOCUMENTS):
                answer = Event.model_validate_json(fields["event"])
                if answer.type == WorkspacePurged.event_type:
                    return WorkspacePurged.model_validate(answer.data)
            await asyncio.sleep(0.05)


def checkpoints_of(url: str, run_id: str) -> int:
    with psycopg.connect(url, options="-c app.scope=system") as connection:
        row = connection.execute("SELECT count(*) FROM checkpoints WHERE thread_id = %s", (run_id,)).fetchone()
    return int(row[0]) if row else -1


async def test_a_deleted_workspace_leaves_nothing_behind(
    start: Any, model_settings: Any, world: Any, redis_url: str, auth_headers: Any, workspace_id: UUID
) -> None:
    writing, url = asyncio.Event(), model_settings.database_url.get_secret_value()
    theirs = auth_headers(workspace_id=uuid4())

    async def forever(_: int) -> None:
        writing.set()
        await asyncio.Event().wait()

    async with (
        start(model_settings) as service,
        Redis.from_url(redis_url, decode_responses=True) as redis,
        asyncio.timeout(120),
    ):
        session = await service.session()
        ended = await service.ask(session)
        await service.events(ended["id"])
        other = (await service.client.post("/v1/sessions", json={}, headers=theirs)).json()["id"]
        world.pace = forever
        running, waiting = await service.ask(session), await service.ask(session)
        await writing.wait()
        assert checkpoints_of(url, running["id"]) > 0

        receipt = await delete(redis, workspace_id)
        assert receipt.service == "orchestrator"
        assert (receipt.removed["session"], receipt.removed["run"], receipt.removed["streams"]) == (1, 3, 2)
        assert receipt.removed["checkpoints"] > 0
        assert receipt.removed["message"] == 6
        assert set(receipt.remaining.values()) == {0}
        while not world.chats_cut:  # noqa: ASYNC110  the model sees that its reader has left
            await asyncio.sleep(0.02)
        for run in (ended, running, waiting):
            assert (await service.client.get(f"/v1/runs/{run['id']}")).status_code == 404
            assert not await redis.exists(run_stream(UUID(run["id"])))
            assert checkpoints_of(url, run["id"]) == 0
        refused = await service.client.post("/v1/sessions", json={})
        assert (refused.status_code, refused.json()["type"]) == (404, "workspace-deleted")
        assert (await service.client.get(f"/v1/sessions/{other}", headers=theirs)).status_code == 200
