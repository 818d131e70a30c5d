"""The service on real engines, over HTTP; the services it calls are small scripted HTTP servers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any
from uuid import UUID, uuid4

import httpx2
import psycopg
import pytest
from fastapi import FastAPI, Query, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from openai import AsyncOpenAI
from redis.asyncio import Redis
from served_apps import serving

from contracts.artifacts import ARTIFACT_DOCUMENTS_PATH
from contracts.ingestion import Document
from contracts.world import WorldDocument
from orchestrator.app import create_app
from orchestrator.settings import Settings
from service_kit.http_service import service_client
from service_kit.objects import ObjectStore
from service_kit.owners import DOCUMENTS_PATH
from service_kit.settings import ObjectStoreSettings

DOCUMENT = UUID("00000000-0000-4000-8000-00000000000d")
TOKENS_TEXT = "The AuthService issues tokens. Tokens expire after fifteen minutes. The UserDB keeps the accounts."
BILLING_TEXT = "The BillingRouter sends invoices every Monday. It was written in March 2024."


def hit(text: str, name: str, highlights: list[tuple[int, int, float]]) -> dict[str, Any]:
    return {
        "chunk_id": f"{DOCUMENT}:1:{name}",
        "workspace_id": str(DOCUMENT),
        "document_id": str(DOCUMENT),
        "document_name": name,
        "document_title": None,
        "media_type": "text/markdown",
        "score": 0.9,
        "content": text,
        "section_title": "Tokens",
        "heading_path": ["Services", "Tokens"],
        "chunk_index": 0,
        "page": None,
        "page_end": None,
        "box": None,
        "line_start": 3,
        "line_end": 5,
        "highlights": [{"start": start, "end": end, "score": score} for start, end, score in highlights],
    }


HITS = [
    hit(TOKENS_TEXT, "auth.md", [(31, 67, 0.9), (0, 30, 0.7)]),
    hit(BILLING_TEXT, "billing.md", [(0, 46, 0.2)]),
]


@dataclass
class World:
    """Holds the scripted responses of other services, and the requests they received."""

    good_match: bool = True
    hits: list[dict[str, Any]] = field(default_factory=lambda: list(HITS))
    search_status: int = 200
    structure: dict[str, Any] | None = None
    graph_status: int = 200
    recall_status: int = 200
    recalled: list[str] = field(default_factory=list)
    remembered: dict[str, Any] | None = None
    unanswered: dict[str, Any] | None = None
    told: dict[str, Any] | None = None
    profile: dict[str, list[str]] = field(default_factory=lambda: {"style": [], "facts": []})
    profiles: list[str] = field(default_factory=list)
    chat_status: int = 200
    answer: list[str] = field(default_factory=lambda: ["Tokens expire after ", "fifteen minutes [", "1]. Also [9]."])
    title: str = "Token lifetime"
    summary: str = "They spoke of tokens."
    # What the model derives from a turn that changed the artifact.
    reflections: str = '{"reflections": []}'
    # What the model writes in the place of what the sources contradict; without it, it fails.
    rewritten: str | None = ""
    rewrite_pace: Callable[[], Awaitable[None]] | None = None
    # What an entailment server says to a sentence, and what it was asked.
    entails: Callable[[str], str] = lambda _sentence: "neutral"
    compared: list[list[str]] = field(default_factory=list)
    # What the model writes to a prompt in which this stands; None if it fails.
    scripted: dict[str, list[str] | None] = field(default_factory=dict)
    thinking: str = ""
    cut: bool = False
    finish: str = "stop"
    usage: dict[str, Any] | None = None
    # Before each piece of the answer the model waits for this, where it is given.
    pace: Callable[[int], Awaitable[None]] | None = None
    title_pace: Callable[[int], Awaitable[None]] | None = None
    # The services of search, graph and memory never answer.
    silent: bool = False
    searches: list[tuple[dict[str, Any], str]] = field(default_factory=list)
    recalls: list[dict[str, Any]] = field(default_factory=list)
    structural: list[tuple[dict[str, Any], str]] = field(default_factory=list)
    chats: list[dict[str, Any]] = field(default_factory=list)
    chats_cut: int = 0
    # The models that the providers list, and how they were asked: path and key.
    models: list[str] = field(default_factory=lambda: ["small", "large"])
    failing: str = ""
    moved: int = 0
    chat_keys: list[tuple[str, str | None]] = field(default_factory=list)
    # What was asked of the world state: whose it was, what was tried out, and why it is refused.
    world_reads: list[str | None] = field(default_factory=list)
    tried: list[dict[str, Any]] = field(default_factory=list)
    world_refusal: str | None = None
    document_status: int = 200
    # Name and bytes of the documents that artifacts became, by the artifact's id, and why ingestion takes none.
    artifact_documents: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    artifact_refused: str | None = None
    original: bytes = b"%PDF-1.7 of a document"
    documents_checked: list[str] = field(default_factory=list)
    # Documents by the SHA-256 of their bytes.
    document_hashes: dict[str, list[str]] = field(default_factory=dict)
    # Documents that the graph lacks; None: it does not know, or the question is not about structure.
    documents_pending: int | None = 0
    # Documents that are still being read, whether one is read while it is waited for, and what was waited for.
    unread: set[str] = field(default_factory=set)
    read_in_time: bool = True
    documents_awaited: list[str] = field(default_factory=list)


def a_document(document_id: UUID) -> dict[str, Any]:
    told: dict[str, Any] = dict.fromkeys(Document.model_fields) | {
        "id": str(document_id),
        "workspace_id": str(DOCUMENT),
        "name": "a",
        "media_type": "text/markdown",
        "file_size": 1,
        "content_hash": "0",
        "status": "processing",
        "version": 1,
        "embedding_status": "pending",
        "source_type": "artifact",
        "tags": [],
        "authors": [],
        "created_at": "2026-03-01T10:00:00Z",
        "updated_at": "2026-03-01T10:00:00Z",
    }
    return told


def a_memory(content: str) -> dict[str, Any]:
    now, unknown = "2026-03-01T10:00:00Z", dict.fromkeys(("session_id", "said", "fact"))
    of_user = {"id": str(uuid4()), "created_by": str(uuid4()), "created_at": now, "said_at": now}
    kind = {"kind": "episode", "scope": "user", "document_ids": [], "pinned": False, "score": 0.9}
    return {"content": content, **of_user, **kind, **unknown}


def a_world(session_id: str | None) -> dict[str, Any]:
    now = "2026-03-01T10:00:00Z"
    document = WorldDocument(goals=["Ship in May"], timezone="Europe/Berlin").model_dump(mode="json")
    return {"session_id": session_id, "version": 3, "document": document, "created_at": now, "updated_at": now}


def other_services(world: World) -> FastAPI:
    app = FastAPI()
    add_chat(app, world)
    add_models(app, world)

    @app.post("/v1/search")
    async def search(request: Request) -> Response:
        body = await request.json()
        world.searches.append((body, request.headers["authorization"]))
        await heard(world)
        if world.search_status != 200:
            return Response(status_code=world.search_status)
        answer = {
            "query": body["query"],
            "mode": "hybrid",
            "hits": world.hits,
            "good_match": world.good_match,
            "match": float(world.good_match),
            "legs": [],
            "milliseconds": 1.0,
        }
        return JSONResponse(answer)

    @app.post("/v1/graph/tools/answer_question")
    async def answer_question(request: Request) -> Response:
        world.structural.append((await request.json(), request.headers["authorization"]))
        await heard(world)
        found = {"success": world.structure is not None, "result": world.structure}
        found["documents_pending"] = world.documents_pending
        return JSONResponse({"tool_name": "answer_question", **found}, world.graph_status)

    @app.post("/entailment/predict")
    async def predict(request: Request) -> Response:
        pairs = (await request.json())["inputs"]
        world.compared += pairs
        return JSONResponse([[{"label": world.entails(sentence), "score": 0.9}] for _, sentence in pairs])

    @app.post("/v1/memories/recall")
    async def recall(request: Request) -> Response:
        world.recalls.append(await request.json())
        await heard(world)
        found = {"memories": [a_memory(one) for one in world.recalled], "answer": world.remembered, "told": world.told}
        found |= {"unanswered": world.unanswered}
        found |= {"profile": world.profile} if world.recalls[-1].get("profile_tokens") else {}
        return JSONResponse(found, world.recall_status)

    @app.get("/v1/world")
    async def read_world(request: Request) -> Response:
        world.world_reads.append(request.query_params.get("session_id"))
        await heard(world)
        return JSONResponse(a_world(request.query_params.get("session_id")))

    @app.post("/v1/world/operations")
    async def try_out(request: Request) -> Response:
        body = await request.json()
        world.tried.append(body)
        if world.world_refusal is not None:
            problem = {"type": "world-operation-invalid", "title": "No", "status": 422, "detail": world.world_refusal}
            return JSONResponse(problem, 422)
        return JSONResponse(a_world(request.query_params.get("session_id")))

    @app.get("/v1/memories/profile")
    async def profile(request: Request) -> Response:
        world.profiles.append(request.headers["authorization"])
        return JSONResponse(world.profile)

    add_documents(app, world)
    return app


async def heard(world: World) -> None:
    """Never returns where the services are silent."""
    if world.silent:
        await asyncio.Event().wait()


def told(document_id: str, world: World) -> dict[str, str]:
    status = "processing" if document_id in world.unread else "searchable"
    return {"id": document_id, "name": f"{document_id}.md", "status": status}


def add_documents(app: FastAPI, world: World) -> None:
    @app.get("/v1/documents")
    async def documents(ids: Annotated[list[str] | None, Query()] = None, content_hash: str = "") -> Response:
        found = [told(one, world) for one in ids or world.document_hashes.get(content_hash, ())]
        return JSONResponse({"items": found, "next_cursor": None}, world.document_status)

    @app.get("/v1/documents/{document_id}")
    async def document(document_id: UUID, wait: str | None = None) -> Response:
        world.documents_checked.append(str(document_id))
        if wait:
            world.documents_awaited.append(str(document_id))
            world.unread -= {str(document_id)} if world.read_in_time else set()
        return JSONResponse(told(str(document_id), world), world.document_status)

    @app.get("/v1/documents/{document_id}/markdown")
    async def document_markdown(document_id: UUID) -> Response:
        world.documents_checked.append(str(document_id))
        return Response(TOKENS_TEXT, world.document_status, media_type="text/markdown")

    @app.get("/v1/documents/{document_id}/original")
    async def document_original(document_id: UUID) -> Response:
        world.documents_checked.append(str(document_id))
        return Response(world.original, world.document_status, media_type="application/octet-stream")

    add_artifact_documents(app, world)


def add_artifact_documents(app: FastAPI, world: World) -> None:
    @app.put(f"{ARTIFACT_DOCUMENTS_PATH}/{{artifact_id}}")
    async def put_artifact_document(artifact_id: UUID, request: Request) -> Response:
        async with request.form() as form:
            file: Any = form["file"]
            world.artifact_documents[str(artifact_id)] = (file.filename, await file.read())
        answer = {"name": "a", "document": None, "error": world.artifact_refused, "message": "no"}
        if world.artifact_refused is None:
            answer |= {"document": a_document(artifact_id), "error": None, "message": None}
        return JSONResponse(answer, world.document_status)

    @app.delete(f"{ARTIFACT_DOCUMENTS_PATH}/{{artifact_id}}", status_code=204)
    async def delete_artifact_document(artifact_id: UUID) -> Response:
        if world.document_status == 200:
            world.artifact_documents.pop(str(artifact_id), None)
        return Response(status_code=204 if world.document_status == 200 else world.document_status)

    @app.post(DOCUMENTS_PATH)
    async def deleted_documents(request: Request) -> Response:
        return JSONResponse({"deleted": (await request.json())["document_ids"]})


CONDENSE = "Summarize the beginning"
REWRITE_SENTENCES = "Each numbered sentence below"
REFLECT = "A document has just been written or changed for a user"


def add_models(app: FastAPI, world: World) -> None:
    @app.get("/moved/v1/models")
    async def moved() -> Response:
        world.moved += 1
        return RedirectResponse("/own/v1/models")

    @app.get("/chat/v1/models")
    @app.get("/own/v1/models")
    async def models(request: Request) -> Response:
        status = 400 if world.failing and world.failing in request.url.path else 200
        return JSONResponse({"data": [{"id": name} for name in world.models]}, status)


def add_chat(app: FastAPI, world: World) -> None:
    @app.post("/chat/v1/chat/completions")
    @app.post("/own/v1/chat/completions")
    async def chat(request: Request) -> Response:
        body = await request.json()
        world.chats.append(body)
        world.chat_keys.append((request.url.path, request.headers.get("authorization")))
        if world.chat_status != 200 or (world.failing and world.failing in request.url.path):
            return JSONResponse({"error": {"message": "no"}}, 400 if world.failing else world.chat_status)
        prompt = body["messages"][0]["content"]
        naming = "title of three" in prompt
        pieces = await pieces_of(world, prompt, naming)
        if pieces is None:
            return JSONResponse({"error": {"message": "no"}}, 401)
        return StreamingResponse(written(pieces, naming), media_type="text/event-stream")

    async def written(pieces: list[str], naming: bool) -> AsyncIterator[str]:
        try:
            if world.thinking and not naming:
                yield chunk({"reasoning_content": world.thinking})
            for at, piece in enumerate(pieces):
                if (pace := world.title_pace if naming else world.pace) is not None:
                    await pace(at)
                yield chunk({"content": piece})
            if world.cut:
                return
            yield chunk({}, world.finish)
            yield usage_of(world)
            yield "data: [DONE]\n\n"
        except asyncio.CancelledError:
            world.chats_cut += 1
            raise


async def pieces_of(world: World, prompt: str, naming: bool) -> list[str] | None:
    """What the model writes to a prompt; None if it fails."""
    if naming:
        return [world.title]
    for part, pieces in world.scripted.items():
        if part in prompt:
            return pieces
    if prompt.startswith(REFLECT):
        return [world.reflections]
    if prompt.startswith(REWRITE_SENTENCES):
        if world.rewrite_pace is not None:
            await world.rewrite_pace()
        return None if world.rewritten is None else [world.rewritten]
    return [world.summary] if prompt.startswith(CONDENSE) else world.answer


def usage_of(world: World) -> str:
    """Returns the statistics of an answer, empty if the model reports none."""
    return f"data: {json.dumps({'choices': [], 'usage': world.usage})}\n\n" if world.usage else ""


def chunk(delta: dict[str, str], finish: str | None = None) -> str:
    return f"data: {json.dumps({'choices': [{'index': 0, 'delta': delta, 'finish_reason': finish}]})}\n\n"


@pytest.fixture
def audience() -> str:
    return "orchestrator"


@pytest.fixture
def serve() -> Callable[[FastAPI], Any]:
    """`async with serve(app) as url` serves an application on its own port."""
    return serving


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
async def others(world: World) -> AsyncIterator[str]:
    async with serving(other_services(world)) as url:
        yield url


@pytest.fixture(scope="module")
def image_bucket(engines: Any) -> dict[str, str]:
    """The settings of a bucket that all tests share: keys begin with the workspace."""
    settings = {
        "s3_endpoint": engines.s3_endpoint,
        "s3_access_key": engines.s3_access_key,
        "s3_secret_key": engines.s3_secret_key,
        "s3_bucket": "orchestrator-images",
    }
    objects = ObjectStore(ObjectStoreSettings.model_validate(settings))
    objects.ensure_bucket()
    objects.close()
    return settings


@pytest.fixture
async def settings(
    make_database: Callable[..., Any],
    own_redis_url: Any,
    token_keys: Any,
    others: str,
    owners: Any,
    image_bucket: dict[str, str],
) -> Settings:
    urls = await asyncio.to_thread(make_database, "orchestrator")
    return Settings.model_validate(
        {
            **token_keys.settings("orchestrator"),
            **image_bucket,
            "database_url": urls.service,
            "redis_url": own_redis_url("orchestrator"),
            "gateway_url": owners.url,
            "ingestion_url": others,
            "retrieval_url": others,
            "knowledge_graph_url": others,
            "memory_url": others,
            "run_lease_seconds": 10.0,  # so long that a machine that stalls loses none
            "run_drain_seconds": 0.0,
            "sse_heartbeat_seconds": 0.5,
        }
    )


@pytest.fixture
def lapse(settings: Settings) -> Callable[..., Any]:
    """await lapse(run_id, ...): makes the leases of runs as old as those of a process that died long ago."""

    async def change(*run_ids: str) -> None:
        url = settings.database_url.get_secret_value()
        async with await psycopg.AsyncConnection.connect(url, options="-c app.scope=system") as connection:
            await connection.execute(
                "UPDATE run SET lease_expires_at = now() - interval '1 second' "
                "WHERE id = ANY(%s::uuid[]) AND state = 'running'",
                (list(run_ids),),
            )

    return change


@pytest.fixture
def model_settings(settings: Settings, others: str) -> Settings:
    """With a chat model."""
    return settings.model_copy(update={"chat_base_url": f"{others}/chat/v1", "chat_model": "small"})


@dataclass
class Service:
    """A running orchestrator and a caller of it."""

    client: httpx2.AsyncClient

    async def session(self, **body: Any) -> str:
        response = await self.client.post("/v1/sessions", json=body)
        assert response.status_code == 201, response.text
        return str(response.json()["id"])

    async def ask(self, session: str, content: str = "How long are tokens valid?", **body: Any) -> dict[str, Any]:
        response = await self.client.post(f"/v1/sessions/{session}/messages", json={"content": content, **body})
        assert response.status_code == 202, response.text
        run: dict[str, Any] = response.json()
        return run

    async def events(self, run_id: str, after: str | None = None) -> list[Received]:
        return [event async for event in self.follow(run_id, after)]

    async def follow(self, run_id: str, after: str | None = None) -> AsyncIterator[Received]:
        headers = {"Last-Event-ID": after} if after else {}
        async with self.client.stream("GET", f"/v1/runs/{run_id}/events", headers=headers) as response:
            assert response.status_code == 200, await response.aread()
            async for event in received(response):
                yield event

    async def following(self, run_id: str) -> asyncio.Task[list[Received]]:
        """Returns once the run is followed, with what will give all its events."""
        begun = asyncio.Event()

        async def follow() -> list[Received]:
            events = []
            async for event in self.follow(run_id):
                events.append(event)
                begun.set()
            return events

        task, first = asyncio.create_task(follow()), asyncio.create_task(begun.wait())
        await asyncio.wait({task, first}, return_when=asyncio.FIRST_COMPLETED)
        first.cancel()
        return task

    async def run(self, run_id: str) -> dict[str, Any]:
        response = await self.client.get(f"/v1/runs/{run_id}")
        assert response.status_code == 200, response.text
        run: dict[str, Any] = response.json()
        return run


@dataclass(frozen=True)
class Received:
    """A server-sent event."""

    id: str
    name: str
    data: dict[str, Any]


async def received(response: httpx2.Response) -> AsyncIterator[Received]:
    fields: dict[str, str] = {}
    async for line in response.aiter_lines():
        if not line and fields:
            yield Received(fields["id"], fields["event"], json.loads(fields["data"]))
            fields = {}
        elif line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            fields[name] = value


@pytest.fixture
def start(auth_headers: Callable[..., dict[str, str]]) -> Callable[[Settings], Any]:
    """`async with start(settings) as service`: a process's worth of orchestrator, called as the default user."""

    @asynccontextmanager
    async def started(settings: Settings) -> AsyncIterator[Service]:
        async with (
            serving(create_app(settings)) as url,
            service_client(base_url=url, headers=auth_headers(), timeout=240) as client,
        ):
            yield Service(client)

    return started


@pytest.fixture
def other_user(auth_headers: Callable[..., dict[str, str]]) -> dict[str, str]:
    """Of the same workspace."""
    return auth_headers(user_id=uuid4())


@pytest.fixture
def sdk(auth_headers: Callable[..., dict[str, str]]) -> Callable[..., Any]:
    """`async with sdk(service) as client`: the SDK, which repeats nothing."""

    @asynccontextmanager
    async def opened(service: Any, headers: dict[str, str] | None = None) -> AsyncIterator[AsyncOpenAI]:
        key = (headers or auth_headers())["Authorization"].removeprefix("Bearer ")
        url = f"{service.client.base_url}/v1"
        async with AsyncOpenAI(base_url=url, api_key=key, max_retries=0, timeout=120) as client:
            yield client

    return opened


@pytest.fixture
def completed_turns(redis_url: str) -> Callable[[], Awaitable[list[dict[str, Any]]]]:
    """`await completed_turns()` returns the events of completed turns, as soon as there is one."""

    async def read() -> list[dict[str, Any]]:
        async with Redis.from_url(redis_url, decode_responses=True) as redis, asyncio.timeout(120):
            while True:
                entries = await redis.xrange("attractor.turns")
                events = [json.loads(fields["event"]) for _, fields in entries]
                if found := [event for event in events if event["type"] == "turn.completed.v2"]:
                    return found
                await redis.xread({"attractor.turns": entries[-1][0] if entries else "0"}, block=120_000)

    return read
