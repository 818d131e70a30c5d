from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from redis.asyncio import Redis
from sent_events import send_events
from waiting import eventually

from contracts.events import (
    DOCUMENTS,
    DocumentDeleted,
    DocumentPurged,
    Event,
    EventData,
    TurnCompleted,
    WorkspacePurged,
)
from memory.app import create_app
from memory.settings import Settings


@pytest.fixture
def audience() -> str:
    return "memory"


@pytest.fixture
def settings(make_database, own_redis_url, token_keys, owners):
    return Settings(
        port=0,
        **token_keys.settings("memory"),
        database_url=make_database("memory").service,
        redis_url=own_redis_url("memory"),
        embedding_threads=1,
        **owners.settings,
        orchestrator_url=owners.url,
        facts_by_model=True,
    )


@pytest.fixture
def app(settings):
    app = create_app(settings)
    app.state.database_url = settings.database_url.get_secret_value()
    return app


@pytest.fixture
async def client(app, running):
    async with running(app) as client:
        yield client


@pytest.fixture
async def redis(redis_url):
    async with Redis.from_url(redis_url, decode_responses=True) as redis:
        yield redis


class Streams:
    """Stands in for the other services: writes events, and reads the confirmations."""

    def __init__(self, redis: Redis, workspace_id: UUID) -> None:
        self.redis, self.workspace_id = redis, workspace_id

    async def send(self, data: EventData, *, workspace_id: UUID | None = None, event_id: UUID | None = None) -> UUID:
        [sent] = await send_events(self.redis, [data], workspace_id or self.workspace_id, event_id)
        return sent

    async def turn(self, user_id: UUID, question: str, documents: list[UUID], **more: Any) -> UUID:
        data = TurnCompleted(
            session_id=more.pop("session_id", None) or uuid4(),
            run_id=more.pop("run_id", None) or uuid4(),
            user_id=user_id,
            question_id=more.pop("question_id", None) or uuid4(),
            answer_id=more.pop("answer_id", None) or uuid4(),
            asked_at=more.pop("asked_at", None) or datetime.now(UTC),
            time_zone=more.pop("time_zone", "UTC"),
            question=question,
            answer=more.pop("answer", "It is so."),
            document_ids=documents,
            reflections=more.pop("reflections", []),
            world=more.pop("world", None),
        )
        return await self.send(data, **more)

    async def delete(self, document_id: UUID, **more: Any) -> DocumentPurged:
        """Deletes the document and returns the service's confirmation."""
        before = len(await self.purged())
        await self.send(DocumentDeleted(document_id=document_id), **more)
        return (await eventually(self.purged, lambda found: len(found) > before))[-1]

    async def purged(self) -> list[DocumentPurged]:
        events = [Event.model_validate_json(fields["event"]) for _, fields in await self.redis.xrange(DOCUMENTS)]
        return [DocumentPurged.model_validate(event.data) for event in events if event.type == "document.purged.v1"]

    async def workspaces_purged(self) -> list[WorkspacePurged]:
        """Returns the confirmations, as soon as there is one."""

        async def read() -> list[WorkspacePurged]:
            events = [Event.model_validate_json(fields["event"]) for _, fields in await self.redis.xrange(DOCUMENTS)]
            return [WorkspacePurged.model_validate(one.data) for one in events if one.type == "workspace.purged.v1"]

        return await eventually(read, bool)

    async def drained(self, stream: str) -> None:
        """Waits until the service has acknowledged everything on the stream."""

        async def lag() -> tuple[int, int]:
            groups = {group["name"]: group for group in await self.redis.xinfo_groups(stream)}
            if "memory" not in groups:  # the consumer has not started yet
                return -1, -1
            return groups["memory"]["lag"], groups["memory"]["pending"]

        await eventually(lag, lambda found: found == (0, 0))


@pytest.fixture
def streams(redis, workspace_id):
    return Streams(redis, workspace_id)


@pytest.fixture
def remembered(auth_headers):
    """Returns a workspace's memories by id, without times at which they were stored."""

    async def read(client: httpx2.AsyncClient, workspace_id: UUID) -> dict[str, Any]:
        response = await client.get("/v1/memories?limit=100", headers=auth_headers(workspace_id=workspace_id))
        items = response.raise_for_status().json()["items"]
        for one in items:
            del one["created_at"]
            if one["fact"]:
                one["fact"]["expired_at"] = bool(one["fact"]["expired_at"])
                one["fact"].pop("workspace_id", None)
        return {one["id"]: one for one in items}

    return read
