from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from redis.asyncio import Redis

from contracts.events import DOCUMENTS, DocumentDeleted, Event, EventData
from inference.factory import build_embedder
from inference.settings import EmbeddingSettings
from retrieval.analysis import Analyzer
from retrieval.app import create_app
from retrieval.index_rows import Facts, Vectors, prepare
from retrieval.index_store import IndexWriter
from retrieval.settings import Settings
from service_kit.postgres import Database


@pytest.fixture(scope="session")
def embedder():
    return build_embedder(EmbeddingSettings(embedding_threads=1))


@pytest.fixture
def urls(make_database):
    return make_database("retrieval")


@pytest.fixture
async def database(urls):
    async with Database(urls.service).opened() as database:
        yield database


@pytest.fixture
def index(database, workspace_id):
    """index(converted): writes the document straight into the index of the workspace."""
    analyzer = Analyzer()

    async def write(document, workspace: UUID | None = None) -> None:
        place = workspace or workspace_id
        vectors = Vectors(document.data.embedding_model, document.vectors)
        prepared = prepare(Facts.of(document.data), document.chunks, vectors, analyzer)
        async with database.workspace(place) as connection:
            writer = IndexWriter(connection, place)
            known = await writer.lock(document.data.document_id)
            if known.wants(document.data.version):
                await writer.replace(known, prepared)

    return write


@pytest.fixture
def settings(urls, redis_url, token_secret, object_store_settings):
    return Settings(
        port=0,
        internal_token_secret=token_secret,
        database_url=urls.service,
        redis_url=redis_url,
        embedding_threads=1,
        **object_store_settings.model_dump(),
    )


@pytest.fixture
async def client(settings, running, object_store):  # noqa: ARG001  the bucket has to be there
    async with running(create_app(settings)) as client:
        yield client


@pytest.fixture
async def redis(redis_url):
    async with Redis.from_url(redis_url, decode_responses=True) as redis:
        yield redis


class Ingestion:
    """What the ingestion service does: writes objects and events, and reads the answers."""

    def __init__(self, redis: Redis, objects, embedder, workspace_id: UUID) -> None:
        self.redis, self.objects, self.embedder, self.workspace_id = redis, objects, embedder, workspace_id

    async def embedded(self, document):
        texts = [" ".join([*chunk.heading_path, chunk.content]) for chunk in document.chunks]
        document.vectors = await self.embedder.embed(texts)
        return document

    async def send(self, data: EventData, *, workspace: UUID | None = None, event_id: UUID | None = None) -> UUID:
        event = Event(
            id=event_id or uuid4(),
            source="test",
            type=data.event_type,
            time=datetime.now(UTC),
            subject="test",
            workspace_id=workspace or self.workspace_id,
            data=data.model_dump(mode="json"),
        )
        await self.redis.xadd(data.stream, {"event": event.model_dump_json()})
        return event.id

    async def store(self, document) -> None:
        await self.objects.aput(document.data.chunks_key, document.chunks_object)
        if document.data.vectors_key:
            await self.objects.aput(document.data.vectors_key, document.vectors_object)

    async def convert(self, document, **more: Any) -> UUID:
        await self.store(document)
        return await self.send(document.data, **more)

    async def delete(self, document, **more: Any) -> UUID:
        return await self.send(DocumentDeleted(document_id=document.data.document_id), **more)

    async def answers(self, kind: type[EventData]) -> list[Any]:
        """What the service said of this kind, once it has handled all that is on the stream."""
        await self.drained()
        entries = [Event.model_validate_json(fields["event"]) for _, fields in await self.redis.xrange(DOCUMENTS)]
        return [kind.model_validate(event.data) for event in entries if event.type == kind.event_type]

    async def wait_for(self, kind: type[EventData], count: int) -> list[Any]:
        return await eventually(lambda: self.answers(kind), lambda found: len(found) >= count)

    async def drained(self) -> None:
        async def left() -> tuple[int, int]:
            groups = {group["name"]: group for group in await self.redis.xinfo_groups(DOCUMENTS)}
            return (groups["retrieval"]["lag"], groups["retrieval"]["pending"]) if "retrieval" in groups else (1, 0)

        await eventually(left, lambda found: found == (0, 0))


async def eventually(read: Callable[[], Awaitable[Any]], good: Callable[[Any], bool], seconds: float = 30) -> Any:
    async with asyncio.timeout(seconds):
        while not good(found := await read()):  # noqa: ASYNC110  another server's state has no event
            await asyncio.sleep(0.05)
    return found


@pytest.fixture
def ingestion(client, redis, object_store, embedder, workspace_id):  # noqa: ARG001  somebody has to consume
    return Ingestion(redis, object_store, embedder, workspace_id)


@pytest.fixture
def search(client, auth_headers):
    """search(query, workspace_id=..., **request): the answer of POST /v1/search."""

    async def ask(query: str, workspace_id: UUID | None = None, **request: Any) -> dict[str, Any]:
        headers = auth_headers(workspace_id=workspace_id)
        response = await client.post("/v1/search", json={"query": query, **request}, headers=headers)
        assert response.status_code == 200, response.text
        return response.json()

    return ask
