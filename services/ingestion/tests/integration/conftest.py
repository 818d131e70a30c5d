"""Fixtures: the API in process, a worker in threads, and stand-ins for the services that confirm."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx2
import numpy as np
import pytest
import waiting
from deployment_keys import DeploymentKeys
from numpy.typing import NDArray
from pydantic import SecretStr
from redis.asyncio import Redis

from contracts.events import (
    DOCUMENTS,
    DocumentConverted,
    DocumentDeleted,
    DocumentGraphed,
    DocumentIndexed,
    DocumentPurged,
    Event,
    EventData,
)
from contracts.ingestion import Chunk
from contracts.registry import INGESTION
from inference.embedders import Embedders
from inference.embeddings import EmbeddingSpace
from ingestion.app import create_app
from ingestion.conversion import ConversionProgress, Converted, CorruptFile, EmptyDocument, Limits
from ingestion.documents.rows import HeldStage
from ingestion.documents.stages import stage_work
from ingestion.settings import Settings
from ingestion.worker.build import open_pool
from ingestion.worker.database import WorkerDatabase
from ingestion.worker.embedding import TextEmbedder, running_loop
from ingestion.worker.holding import Shutdown
from ingestion.worker.metrics import WorkerMetrics
from ingestion.worker.process import Processor
from ingestion.worker.queue import StageQueue
from ingestion.worker.recording import ProcessingPolicy
from ingestion.worker.slots import ALL_LANES
from ingestion.worker.stages import StageRecords
from ingestion.worker.vectors import VectorMaker
from service_kit.admission import Admission
from service_kit.background import Background
from service_kit.event_signatures import EventSignatures
from service_kit.objects import ObjectMissing, ObjectStore
from service_kit.outbox import new_event
from service_kit.settings import ObjectStoreSettings
from service_kit.streams import Consumer
from service_kit.telemetry import Metrics
from service_kit.work import WorkQueue

LEASE_SECONDS = 6.0  # long enough that a stalling machine loses no lease


@pytest.fixture
def audience() -> str:
    return "ingestion"


@pytest.fixture
def database(make_database: Callable[[str], Any]) -> Any:
    return make_database("ingestion")


@pytest.fixture
def settings(
    database: Any,
    own_redis_url: Any,
    object_store_settings: ObjectStoreSettings,
    token_keys: Any,
    owners: Any,
    tmp_path: Path,
) -> Settings:
    uploads = tmp_path / "uploads"
    uploads.mkdir()
    return Settings(
        port=0,
        **token_keys.settings("ingestion"),
        database_url=SecretStr(database.service),
        redis_url=SecretStr(own_redis_url("ingestion")),
        **object_store_settings.model_dump(),
        gateway_url=owners.url,
        upload_folder=uploads,
        max_file_bytes=1_000_000,
        max_files_per_upload=20,
        lease_seconds=LEASE_SECONDS,
        reannounce_after_seconds=3600.0,  # nothing is announced again because the machine stalls
        schedule_sources=False,
    )


@pytest.fixture
async def client(
    settings: Settings, running: Any, auth_headers: Callable[..., dict[str, str]], object_store: ObjectStore
) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the API for the owner of `workspace_id`. It signs each request, because tokens expire soon."""

    def signed(request: httpx2.Request) -> httpx2.Request:
        if "Authorization" not in request.headers:
            request.headers.update(auth_headers())
        return request

    assert object_store.bucket == settings.s3_bucket
    async with running(create_app(settings)) as client:
        client.auth = signed
        yield client


class LineConverter:
    """Makes a chunk per line, without docling. A file named gate-* waits for `gate`; one named broken-* is corrupt."""

    def __init__(self) -> None:
        self.gate, self.started = threading.Event(), threading.Event()
        self.conversions: list[str] = []

    def convert(
        self,
        source: Path,
        file_name: str,
        document_id: UUID,
        output: Path,
        limits: Limits,
        on_progress: Callable[[ConversionProgress], None],
        *,
        workspace_id: UUID,  # noqa: ARG002  part of the interface
    ) -> Converted:
        assert limits.pages > 0
        self.conversions.append(file_name)
        on_progress(ConversionProgress("convert", 0, 2))
        self.started.set()
        while file_name.startswith("gate-") and not self.gate.wait(0.05):
            on_progress(ConversionProgress("convert", 1, 2))
        if file_name.startswith("broken-"):
            raise CorruptFile("The file is damaged.")
        lines = [line for line in source.read_text().splitlines() if line.strip()]
        if not lines:
            raise EmptyDocument("No text was found.")
        on_progress(ConversionProgress("chunk"))
        if file_name.startswith("unchunked-"):
            raise CorruptFile("The text cannot be split.")
        chunks = [self._chunk(document_id, index, line) for index, line in enumerate(lines)]
        (output / "chunks.jsonl").write_text("".join(chunk.model_dump_json() + "\n" for chunk in chunks))
        (output / "document.md").write_text("\n\n".join(lines))
        return Converted(pages=2, title=lines[0], chunks=len(lines), characters=10, engine="lines")

    def _chunk(self, document_id: UUID, index: int, line: str) -> Chunk:
        return Chunk(
            chunk_id=f"{index:032x}", document_id=document_id, chunk_index=index, content=line, token_count=len(line)
        )


class ConstantEmbedder:
    """Returns equal vectors, after raising `failures`."""

    def __init__(self) -> None:
        self.space = EmbeddingSpace("constant", 4, 128)
        self.failures: list[Exception] = []
        self.embedded: list[str] = []

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.failures:
            raise self.failures.pop(0)
        self.embedded += texts
        return np.ones((len(texts), self.space.dims), np.float32)

    async def aclose(self) -> None: ...


@pytest.fixture
def converter() -> Iterator[LineConverter]:
    converter = LineConverter()
    yield converter
    converter.gate.set()


@pytest.fixture
def embedder() -> ConstantEmbedder:
    return ConstantEmbedder()


@pytest.fixture
def shutdown() -> Shutdown:
    return Shutdown(grace_seconds=0.2)


class StageByDocument(StageQueue):
    """A queue from which a test leases the stage of a particular document."""

    def lease(self, document_id: str) -> HeldStage | None:
        for lane in ALL_LANES:
            claim = self.queue.claim(1, lane=lane, document_id=document_id)
            for claimed in asyncio.run_coroutine_threadsafe(claim, self.loop).result():
                return self.stages.begin(claimed)
        return None


@pytest.fixture
def open_queue(settings: Settings) -> Iterator[Callable[[str], StageByDocument]]:
    """`open_queue("dying")` returns the queue of a worker with this name."""
    with ExitStack() as stack:
        url, loop = settings.database_url.get_secret_value(), stack.enter_context(running_loop("leases"))
        table = replace(stage_work(3), claimable="work.document_id = %(document_id)s")

        def opened(worker: str) -> StageByDocument:
            work = WorkQueue(open_pool(url, 4, loop, stack), table, LEASE_SECONDS, worker)
            stages = StageRecords(stack.enter_context(WorkerDatabase(url, 4).opened()), worker)
            return StageByDocument(work, loop, stages, lambda: False)

        yield opened


@pytest.fixture
def processor(
    settings: Settings,
    object_store: ObjectStore,
    converter: LineConverter,
    embedder: ConstantEmbedder,
    shutdown: Shutdown,
    tmp_path: Path,
    open_queue: Callable[[str], StageByDocument],
) -> Iterator[Processor]:
    with ExitStack() as stack:
        database = stack.enter_context(WorkerDatabase(settings.database_url.get_secret_value(), 4).opened())
        loop = stack.enter_context(running_loop("embedding"))
        work = tmp_path / "work"
        work.mkdir()
        policy = ProcessingPolicy(Limits(60, 2**30, 100, 10**6), 3, 3, 3, work)
        vectors = VectorMaker(database, object_store, TextEmbedder(Embedders(embedder), loop))
        yield Processor(open_queue("test"), object_store, converter, vectors, shutdown, policy, WorkerMetrics())


@pytest.fixture
def process(
    processor: Processor, open_queue: Callable[[str], StageByDocument]
) -> Callable[[str], Coroutine[Any, Any, None]]:
    """`await process(document_id)` processes a document as a worker does."""

    queue = open_queue("test")

    def lease_and_process(document_id: str) -> None:
        if job := queue.lease(document_id):
            processor.process(job)

    async def run(document_id: str) -> None:
        await asyncio.to_thread(lease_and_process, document_id)

    return run


async def confirmed(events: Sequence[Event]) -> list[bool]:
    return [True for _ in events]


@dataclass
class Neighbours:
    """Stand-ins for the other services, which confirm events on the stream unless they are `silent`."""

    redis: Redis
    objects: ObjectStore
    signatures: EventSignatures
    silent: set[str] = field(default_factory=set)
    seen: list[tuple[str, Event]] = field(default_factory=list)

    async def run(self, group: str) -> None:
        handlers = {
            DocumentConverted.event_type: lambda event: self.converted(group, event),
            DocumentDeleted.event_type: lambda event: self.deleted(group, event),
        }
        admission = Admission({INGESTION: confirmed})
        consumer = Consumer(
            self.redis, DOCUMENTS, group, handlers, Metrics(), self.signatures, block_seconds=0.2, admission=admission
        )
        await consumer.run()

    async def converted(self, group: str, event: Event) -> None:
        self.seen.append((group, event))
        if group in self.silent:
            return
        data = DocumentConverted.model_validate(event.data)
        if group == "retrieval":
            try:
                lines = (await self.objects.aget(data.chunks_key)).splitlines()
            except ObjectMissing:  # announced again, and deleted meanwhile: like the real service, it does not retry
                return
            assert len(lines) == data.chunk_count
            done = {"document_id": data.document_id, "version": data.version}
            vectors = len(lines) if data.vectors_key else 0
            await self._answer(group, event, DocumentIndexed(**done, chunk_count=len(lines), vectors=vectors))
        if group == "knowledge-graph":
            graphed = DocumentGraphed(document_id=data.document_id, version=data.version, entities=1, relations=0)
            await self._answer(group, event, graphed)

    async def deleted(self, group: str, event: Event) -> None:
        self.seen.append((group, event))
        if group not in self.silent:
            purged = DocumentPurged(
                document_id=event.data["document_id"], service=group, removed={"rows": 2}, remaining={"rows": 0}
            )
            await self._answer(group, event, purged)

    async def _answer(self, group: str, event: Event, data: EventData) -> None:
        answer = new_event(group, event.workspace_id, data, event.subject)
        await self.redis.xadd(DOCUMENTS, {"event": answer.model_dump_json()})


@pytest.fixture
async def neighbours(
    redis_url: str, object_store: ObjectStore, token_keys: DeploymentKeys
) -> AsyncIterator[Neighbours]:
    # With a shorter timeout, a stalling machine would lose the events of a read.
    async with Redis.from_url(redis_url, socket_timeout=60) as redis, Background(Metrics()) as background:
        tokens = token_keys.tokens("memory")
        signatures = EventSignatures(tokens.key, tokens.known, datetime.now(UTC) + timedelta(days=1))
        neighbours = Neighbours(redis, object_store, signatures)
        for group in ("retrieval", "knowledge-graph", "memory", "orchestrator"):
            background.start(group, partial(neighbours.run, group))
        yield neighbours


@pytest.fixture
def eventually() -> Callable[..., Awaitable[Any]]:
    """`await eventually(read, good)`."""

    return waiting.eventually


@pytest.fixture
def detail(client: httpx2.AsyncClient) -> Callable[[str], Awaitable[dict[str, Any]]]:
    """`await detail(document_id)` returns the document's current state."""

    async def get(document_id: str) -> dict[str, Any]:
        answer: dict[str, Any] = (await client.get(f"/v1/documents/{document_id}")).json()
        return answer

    return get


@pytest.fixture
def upload(client: httpx2.AsyncClient) -> Callable[..., Awaitable[dict[str, Any]]]:
    """`await upload("a.md", b"text")` uploads one file and returns its entry in the response."""

    async def send(name: str = "notes.md", content: bytes | None = None, **options: Any) -> dict[str, Any]:
        body = content if content is not None else f"Heading\nA line of its own: {uuid4()}\n".encode()
        answer = await client.post("/v1/documents", files=[("files", (name, body))], **options)
        assert answer.status_code == 202, answer.text
        entry: dict[str, Any] = answer.json()["files"][0]
        return entry

    return send


@pytest.fixture
def searchable(
    upload: Callable[..., Awaitable[dict[str, Any]]],
    process: Callable[[str], Awaitable[None]],
    neighbours: Neighbours,
    client: httpx2.AsyncClient,
) -> Callable[..., Awaitable[dict[str, Any]]]:
    """`await searchable(...)` uploads as `upload` does, processes the document and returns its detail."""
    assert neighbours

    async def make(*arguments: Any) -> dict[str, Any]:
        document_id = (await upload(*arguments))["document"]["id"]
        await process(document_id)
        answer = await client.get(f"/v1/documents/{document_id}", params={"wait": "searchable", "timeout": 120})
        detail: dict[str, Any] = answer.json()
        assert detail["status"] == "searchable", detail
        return detail

    return make
