from __future__ import annotations

import asyncio
import json
import re
import zlib
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest
from prometheus_client import CollectorRegistry
from redis.asyncio import Redis
from sent_events import send_events
from served_apps import serving
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from waiting import eventually

from contracts.events import DOCUMENTS, DocumentConverted, DocumentDeleted, Event, EventData
from contracts.object_keys import derived_prefix
from inference.factory import build_embedder
from inference.settings import EmbeddingSettings
from relevance.analysis import Analyzer
from relevance.wordpieces import WordPieces
from retrieval.app import create_app
from retrieval.graph import leg as graph_leg
from retrieval.index.compaction import Compaction
from retrieval.index.preparation import ChunkVectors, Facts, prepare
from retrieval.index.writer import IndexWriter
from retrieval.settings import Settings
from service_kit import optional_redis
from service_kit.postgres import Database

# A leg that is late on a busy machine is left out, so only tests of deadlines have short ones.
PATIENT = (
    "lexical_deadline_seconds",
    "dense_deadline_seconds",
    "graph_deadline_seconds",
    "sessions_deadline_seconds",
)


@pytest.fixture(autouse=True)
def unhurried(monkeypatch):
    """Makes searches wait longer for Redis and the graph's generation, for busy machines."""
    monkeypatch.setattr(optional_redis, "ANSWER_SECONDS", 60.0)
    monkeypatch.setattr(graph_leg, "GENERATION_SECONDS", 60.0)


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
    analyzer, pieces = Analyzer(), WordPieces()

    async def write(document, workspace: UUID | None = None) -> None:
        place = workspace or workspace_id
        vectors = ChunkVectors(document.data.embedding_model, document.vectors)
        prepared = prepare(Facts.of(document.data), document.chunks, vectors, analyzer, pieces)
        async with database.workspace(place) as connection:
            writer = IndexWriter(connection, place, analyzer)
            known = await writer.lock(document.data.document_id)
            if known.wants(document.data.version):
                await writer.replace(known, prepared)

    return write


@pytest.fixture
def compaction(database):
    """The task that folds recent postings, run only on demand."""
    return Compaction(database, CollectorRegistry())


@pytest.fixture
def audience() -> str:
    return "retrieval"


@pytest.fixture
def make_settings(urls, own_redis_url, token_keys, object_store_settings, owners):
    """make_settings(embedding_backend=..., embedding_models=[...]): settings of a service on this test's engines."""

    def make(embedding_models: list[dict[str, Any]] | None = None, **more: Any) -> Settings:
        values = {
            "port": 0,
            **token_keys.settings("retrieval"),
            "database_url": urls.service,
            "redis_url": own_redis_url("retrieval"),
            "embedding_threads": 1,
            "embedding_models": json.dumps(embedding_models or []),
            **dict.fromkeys(PATIENT, 60.0),
            **object_store_settings.model_dump(),
            **owners.settings,
        }
        return Settings(**values | more)

    return make


@pytest.fixture
def settings(make_settings):
    return make_settings()


@pytest.fixture
async def client(settings, running, object_store):  # noqa: ARG001  the bucket has to be there
    async with running(create_app(settings)) as client:
        yield client


@pytest.fixture
async def redis(redis_url):
    async with Redis.from_url(redis_url, decode_responses=True) as redis:
        yield redis


def _owned(data: DocumentConverted, workspace_id: UUID) -> DocumentConverted:
    """Returns the data with its objects' keys in this workspace."""
    own = f"{derived_prefix(workspace_id, data.document_id)}v{data.version}/"
    vectors = f"{own}vectors.npy" if data.vectors_key else None
    return data.model_copy(update={"chunks_key": f"{own}chunks.jsonl", "vectors_key": vectors})


class Ingestion:
    """Stands in for the ingestion service: writes objects and events, and reads the answers."""

    def __init__(self, redis: Redis, objects, embedder, workspace_id: UUID, database: Database) -> None:
        self.redis, self.objects, self.embedder, self.workspace_id = redis, objects, embedder, workspace_id
        self.database = database

    async def embedded(self, document):
        texts = [" ".join([*chunk.heading_path, chunk.content]) for chunk in document.chunks]
        document.vectors = await self.embedder.embed(texts)
        return document

    async def send(self, data: EventData, *, workspace: UUID | None = None, event_id: UUID | None = None) -> UUID:
        (sent,) = await self.send_all([data], workspace=workspace, event_id=event_id)
        return sent

    async def send_all(
        self, several: Sequence[EventData], *, workspace: UUID | None = None, event_id: UUID | None = None
    ) -> list[UUID]:
        """Writes events that are read together."""
        place = workspace or self.workspace_id
        several = [_owned(data, place) if isinstance(data, DocumentConverted) else data for data in several]
        return await send_events(self.redis, several, place, event_id)

    async def store(self, document, workspace: UUID | None = None) -> None:
        document.data = _owned(document.data, workspace or self.workspace_id)
        await self.objects.aput(document.data.chunks_key, document.chunks_object)
        if document.data.vectors_key:
            await self.objects.aput(document.data.vectors_key, document.vectors_object)

    async def convert(self, document, **more: Any) -> UUID:
        await self.store(document, more.get("workspace"))
        return await self.send(document.data, **more)

    async def delete(self, document, **more: Any) -> UUID:
        return await self.send(DocumentDeleted(document_id=document.data.document_id), **more)

    async def answers(self, kind: type[EventData]) -> list[Any]:
        """Returns the service's events of this kind, once it has handled everything on the stream."""
        await self.drained()
        entries = [Event.model_validate_json(fields["event"]) for _, fields in await self.redis.xrange(DOCUMENTS)]
        return [kind.model_validate(event.data) for event in entries if event.type == kind.event_type]

    async def wait_for(self, kind: type[EventData], count: int) -> list[Any]:
        return await eventually(lambda: self.answers(kind), lambda found: len(found) >= count)

    async def drained(self) -> None:
        """Waits until the service has handled everything on the stream, and has published its own events."""

        async def left() -> tuple[int, ...]:
            groups = {group["name"]: group for group in await self.redis.xinfo_groups(DOCUMENTS)}
            if "retrieval" not in groups:
                return (1,)
            async with self.database.system() as connection:  # after the check above: acknowledged events are committed
                rows = await (await connection.execute("SELECT count(*) FROM outbox")).fetchall()
            return groups["retrieval"]["lag"], groups["retrieval"]["pending"], rows[0][0]

        await eventually(left, lambda found: found == (0, 0, 0))


class Provider:
    """An OpenAI-compatible endpoint on this machine. A text's vector counts its words, by their hash.

    While `open` is not set it keeps callers waiting, from the start or after `answers` calls; `status` is its answer.
    """

    def __init__(self) -> None:
        self.url, self.status, self.texts, self.open = "", 200, [], asyncio.Event()
        self.open.set()
        self.answers: int | None = None

    def model(self, name: str = "words") -> dict[str, Any]:
        """Returns an entry of EMBEDDING_MODELS."""
        return {"backend": "openai", "base_url": self.url, "model": name, "dims": 64, "api_key": "sk-secret"}

    def default(self, name: str = "words") -> dict[str, Any]:
        """Returns the same as the settings of the default model."""
        return {f"embedding_{key}": value for key, value in self.model(name).items()}

    async def answer(self, request: Request) -> JSONResponse:
        texts = (await request.json())["input"]
        if self.answers is not None:
            self.answers -= 1
            if self.answers < 0:
                self.open.clear()
        await self.open.wait()
        if self.status != 200:
            return JSONResponse({"error": {"message": "not now"}}, self.status)
        self.texts += texts
        data = [{"index": index, "embedding": word_counts(text)} for index, text in enumerate(texts)]
        return JSONResponse({"data": data})


def word_counts(text: str) -> list[float]:
    vector = [0.01] * 64
    for word in re.findall(r"\w+", text.lower()):
        vector[zlib.crc32(word.encode()) % 64] += 1.0
    return vector


@pytest.fixture
async def provider():
    provider = Provider()
    app = Starlette(routes=[Route("/v1/embeddings", provider.answer, methods=["POST"])])
    async with serving(app) as url:
        provider.url = f"{url}/v1"
        yield provider
        provider.open.set()


@pytest.fixture
def ingesting(redis, object_store, embedder, workspace_id, database):
    """Does what `ingestion` does, for a test that runs the service itself."""
    return Ingestion(redis, object_store, embedder, workspace_id, database)


@pytest.fixture
def ingestion(client, ingesting):  # noqa: ARG001  somebody has to consume
    return ingesting


@pytest.fixture
def search(client, auth_headers):
    """search(query, workspace_id=..., **request): the answer of POST /v1/search."""

    async def ask(query: str, workspace_id: UUID | None = None, **request: Any) -> dict[str, Any]:
        headers = auth_headers(workspace_id=workspace_id)
        response = await client.post("/v1/search", json={"query": query, **request}, headers=headers)
        assert response.status_code == 200, response.text
        return response.json()

    return ask
