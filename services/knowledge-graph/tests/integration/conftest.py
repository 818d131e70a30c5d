from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from redis.asyncio import Redis
from sent_events import send_events
from waiting import eventually

from contracts.events import DOCUMENTS, DocumentConverted, DocumentDeleted, Event, EventData
from contracts.ingestion import Chunk
from contracts.object_keys import derived_prefix
from knowledge_graph.app import create_app
from knowledge_graph.settings import Settings
from service_kit.objects import ObjectStore


@pytest.fixture
def audience() -> str:
    return "knowledge-graph"


@pytest.fixture
def build(make_database, own_redis_url, token_keys, object_store, object_store_settings, owners):
    """Returns build(): the application on fresh engines; keyword arguments are additional settings."""
    urls = make_database("knowledge_graph")
    object_store.ensure_bucket()

    def make(**settings: Any):
        app = create_app(
            Settings(
                port=0,
                **token_keys.settings("knowledge-graph"),
                database_url=urls.service,
                redis_url=own_redis_url("knowledge-graph"),
                **object_store_settings.model_dump(),
                **owners.settings,
                **settings,
            )
        )
        app.state.database_url = urls.service
        return app

    return make


@pytest.fixture
async def client(build, running):
    app = build()
    async with running(app) as client:
        client.database_url, client.app = app.state.database_url, app
        yield client


@pytest.fixture
async def redis(redis_url):
    async with Redis.from_url(redis_url, decode_responses=True) as redis:
        yield redis


class Documents:
    """Plays ingestion: stores objects, sends events and reads the replies."""

    def __init__(self, redis: Redis, objects: ObjectStore, workspace_id: UUID) -> None:
        self.redis, self.objects, self.workspace_id = redis, objects, workspace_id

    def convert(
        self,
        texts: list[str],
        *,
        document_id: UUID | None = None,
        version: int = 1,
        name: str = "notes.md",
        title: str | None = None,
        vectors: bool = True,
        workspace_id: UUID | None = None,
        language: str | None = None,
        written_at: datetime | None = None,
        path: str | None = None,
        headings: Sequence[str] = (),
    ) -> DocumentConverted:
        """Stores the chunks and returns the event that announces them, without sending it."""
        document_id = document_id or uuid4()
        chunks = [
            Chunk(
                chunk_id=f"{document_id.hex[:24]}{number:08x}",
                document_id=document_id,
                chunk_index=number,
                content=text,
                heading_path=list(headings),
                token_count=len(text.split()),
            )
            for number, text in enumerate(texts)
        ]
        key = f"{derived_prefix(workspace_id or self.workspace_id, document_id)}v{version}/chunks.jsonl"
        self.objects.put(key, "\n".join(chunk.model_dump_json() for chunk in chunks).encode())
        return DocumentConverted(
            document_id=document_id,
            version=version,
            name=name,
            title=title,
            media_type="text/markdown",
            tags=[],
            language=language,
            written_at=written_at,
            metadata={"source": {"path": path}} if path else {},
            source_type="upload",
            chunks_key=key,
            vectors_key=key if vectors else None,
            chunk_count=len(chunks),
            embedding_model="test" if vectors else None,
            embedding_dims=3 if vectors else None,
        )

    async def send(self, data: EventData, *, workspace_id: UUID | None = None, event_id: UUID | None = None) -> UUID:
        (sent,) = await self.send_all([data], workspace_id=workspace_id, event_id=event_id)
        return sent

    async def send_all(
        self, several: Sequence[EventData], *, workspace_id: UUID | None = None, event_id: UUID | None = None
    ) -> list[UUID]:
        """Writes events that are read together."""
        return await send_events(self.redis, several, workspace_id or self.workspace_id, event_id)

    async def graph(self, texts: list[str], **more: Any) -> UUID:
        """Converts a document, waits until it is graphed and returns its id."""
        send = {key: more.pop(key) for key in ("workspace_id", "event_id") if key in more}
        data = self.convert(texts, workspace_id=send.get("workspace_id"), **more)
        before = len(await self.told("document.graphed.v1"))
        await self.send(data, **send)
        await eventually(lambda: self.told("document.graphed.v1"), lambda found: len(found) > before)
        return data.document_id

    async def delete(self, document_id: UUID, **more: Any) -> dict[str, Any]:
        """Deletes the document and returns the service's confirmation."""
        before = len(await self.told("document.purged.v1"))
        await self.send(DocumentDeleted(document_id=document_id), **more)
        return (await eventually(lambda: self.told("document.purged.v1"), lambda found: len(found) > before))[-1]

    async def told_of(self, count: int) -> list[dict[str, Any]]:
        """Waits for this many confirmations and returns them."""
        return await eventually(lambda: self.told("document.graphed.v1"), lambda found: len(found) >= count)

    async def told(self, event_type: str) -> list[dict[str, Any]]:
        """Returns the data of all events of this type."""
        entries = await self.redis.xrange(DOCUMENTS)
        events = [Event.model_validate_json(fields["event"]) for _, fields in entries]
        return [event.data for event in events if event.type == event_type]

    async def drained(self) -> None:
        """Waits until the service has acknowledged everything on the stream."""

        async def lag() -> tuple[int, int]:
            groups = {group["name"]: group for group in await self.redis.xinfo_groups(DOCUMENTS)}
            if "knowledge-graph" not in groups:  # the consumer has not started yet
                return -1, -1
            return groups["knowledge-graph"]["lag"], groups["knowledge-graph"]["pending"]

        await eventually(lag, lambda found: found == (0, 0))


@pytest.fixture
def documents(redis, object_store, workspace_id):
    return Documents(redis, object_store, workspace_id)


@pytest.fixture
def entities(client, auth_headers):
    """Returns entities(), which reads name → entity over HTTP."""

    async def read(q: str | None = None, **who: Any) -> dict[str, Any]:
        params = {"limit": 200, "min_mentions": 1} | ({"q": q} if q else {})
        page = (await client.get("/v1/graph/entities", params=params, headers=auth_headers(**who))).json()
        return {one["name"]: one for one in page["items"]}

    return read
