"""What durable runs cost: per turn, with many streams at once, and in checkpoints.

The orchestrator is a process of its own on engines of its own; the services that it asks answer at once by script.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from statistics import median
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import httpx2
import psutil
from benchmarks.figures import Row, spread
from deletion_owners import DeletionOwners
from deployment_keys import ACTORS, DELEGATED, DeploymentKeys
from doomed_orchestrator import serve
from langgraph.runtime import RunControl
from orchestrator_service import orchestrator_fixtures
from prometheus_client import CollectorRegistry, Counter

from contracts.gateway import Role
from embedded.engines import Engines
from embedded.ports import free_port
from inference.endpoints import Endpoints
from orchestrator import checkpoints
from orchestrator.graphs.conversation import graph as conversation
from orchestrator.graphs.conversation.context import Prompts, TurnBudgets
from orchestrator.graphs.conversation.turn import ConversationTurns
from orchestrator.models.model_source import ModelSource
from orchestrator.runs.records import ClaimedRun, EarlierMessage, RunProgress, TurnInput
from orchestrator.runs.repository import RunSql
from orchestrator.services import GraphService, MemoryService, RetrievalService
from orchestrator.settings import Settings
from service_kit.auth import Principal
from service_kit.migrate import migrate
from service_kit.postgres import Database
from service_kit.repository import SystemRepository
from service_kit.tokens import Tokens

TURNS, STREAMS, LATER = 40, (50, 200), 100
USERS, PIECES, PACE_SECONDS = 8, 20, 0.2
SERVICE = orchestrator_fixtures()


@dataclass
class UnheardEvents:
    """Takes the events of a graph, and does nothing with them."""

    stage: str | None = None
    facts: list[Any] = field(default_factory=list)

    def emit(self, event: Any) -> None:
        """Takes it."""

    async def flush(self) -> None:
        """Has nothing to write."""

    async def streamed_before(self) -> bool:
        return False


@dataclass
class Bench:
    """Engines and neighbours; `world` is what these answer."""

    settings: Settings
    world: Any
    users: list[Callable[[httpx2.Request], httpx2.Request]]

    @classmethod
    @asynccontextmanager
    async def opened(cls) -> AsyncIterator[Bench]:
        keys, world = DeploymentKeys(), SERVICE.World()
        tokens, callers = keys.tokens("gateway"), [Principal(uuid4(), uuid4(), Role.owner) for _ in range(USERS)]
        signed = [replace(one, delegation=tokens.delegate(one, ACTORS, DELEGATED)) for one in callers]
        async with AsyncExitStack() as stack:
            engines = stack.enter_context(Engines.temporary())
            place = urlsplit(engines.admin_database_url)
            login = f"attractor_orchestrator:benchmark@{place.netloc.rpartition('@')[2]}"
            database_url = urlunsplit(place._replace(netloc=login))
            migrate(engines.admin_database_url, database_url, "orchestrator", "orchestrator")
            checkpoints.prepare(engines.admin_database_url, "orchestrator")
            others = await stack.enter_async_context(SERVICE.serving(SERVICE.other_services(world)))
            addresses = dict.fromkeys(("ingestion_url", "retrieval_url", "knowledge_graph_url", "memory_url"), others)
            settings = Settings.model_validate(
                {
                    **keys.settings("orchestrator"),
                    **addresses,
                    "database_url": database_url,
                    "redis_url": engines.redis_url("orchestrator"),
                    "gateway_url": stack.enter_context(DeletionOwners.serving()).url,
                    "chat_base_url": f"{others}/chat/v1",
                    "chat_model": "scripted",
                }
            )
            yield cls(settings, world, [signing(tokens, one) for one in signed])

    @asynccontextmanager
    async def process(self, **changed: Any) -> AsyncIterator[tuple[psutil.Process, httpx2.AsyncClient]]:
        settings = self.settings.model_copy(update={"port": free_port(), **changed})
        child = get_context("spawn").Process(target=serve, args=(settings, None))
        child.start()
        try:
            async with httpx2.AsyncClient(
                base_url=f"http://127.0.0.1:{settings.port}",
                auth=self.users[0],
                timeout=300,
                limits=httpx2.Limits(max_connections=500),
            ) as client:
                while not await is_ready(client):  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
                yield psutil.Process(child.pid), client
        finally:
            child.kill()
            child.join()

    async def checkpoint_bytes(self) -> int:
        async with (
            Database(self.settings.database_url.get_secret_value(), 1).opened() as database,
            database.system() as connection,
        ):
            return int(await SystemRepository(connection).value(RunSql.checkpoint_bytes))


def signing(tokens: Tokens, caller: Principal) -> Callable[[httpx2.Request], httpx2.Request]:
    """Returns what signs each request anew: a token lasts for a minute."""

    def sign(request: httpx2.Request) -> httpx2.Request:
        request.headers["Authorization"] = f"Bearer {tokens.sign(caller, 'orchestrator')}"
        return request

    return sign


async def is_ready(client: httpx2.AsyncClient) -> bool:
    try:
        return (await client.get("/readyz")).status_code == 200
    except httpx2.TransportError:
        return False


async def conversations() -> list[Row]:
    """Returns all figures of this page."""
    async with Bench.opened() as bench:
        rows = [*await overhead(bench), *await stored(bench)]
        for count in STREAMS:
            rows += await streams(bench, count)
        return rows


async def overhead(bench: Bench) -> list[Row]:
    """A turn through the service, and by the same graph run bare with the same saver, turn about."""
    url, endpoints = bench.settings.database_url.get_secret_value(), Endpoints()
    async with (
        bench.process() as (_, client),
        checkpoints.opened(url, 4) as saved,
        httpx2.AsyncClient() as http,
    ):
        bare = _bare(bench.settings, saved, http, ModelSource(bench.settings, endpoints))
        session = (await client.post("/v1/sessions", json={"title": "t"})).json()["id"]
        pairs = [(await _bare_turn(bare), await _turn(client, session)) for _ in range(TURNS + 5)][5:]
        await endpoints.aclose()
    return [
        ("a turn of the bare graph with the same saver", spread([alone for alone, _ in pairs]), ""),
        ("a turn through the service, until its last event", spread([whole for _, whole in pairs]), ""),
        ("  as a ratio", f"{median(whole / alone for alone, whole in pairs):.1f}", "1.5"),
    ]


def _bare(settings: Settings, saved: Any, http: Any, models: ModelSource) -> ConversationTurns:
    tokens = DeploymentKeys().tokens("orchestrator")
    return ConversationTurns(
        conversation.build(),
        saved,
        RetrievalService("retrieval", http, tokens, settings.retrieval_url, 10.0),
        GraphService("knowledge-graph", http, tokens, settings.knowledge_graph_url, 10.0),
        MemoryService("memory", http, tokens, settings.memory_url, 10.0),
        models,
        Prompts.load(),
        TurnBudgets(settings.search_k, settings.passage_tokens, settings.history_tokens, settings.summary_tokens),
        RunControl(),
        Counter("sentences", "told", ["status"], registry=CollectorRegistry()),
    )


async def _bare_turn(turns: ConversationTurns) -> float:
    run = ClaimedRun(uuid4(), uuid4(), uuid4(), uuid4(), "owner", None, 1, 2, uuid4(), False, None, 600)
    asked = EarlierMessage(uuid4(), "user", "How long are tokens valid?", False)
    began = time.perf_counter()
    await turns.answer(run, TurnInput(uuid4(), [asked], None), UnheardEvents(), RunProgress())  # type: ignore[arg-type]
    await turns.checkpoints.saver().adelete_thread(str(run.id))
    return time.perf_counter() - began


class StampedPieces:
    """An answer whose pieces say when the model is to write them, on the clock of all processes."""

    def __iter__(self) -> Iterator[str]:
        for _ in range(PIECES):
            yield f"{time.monotonic() + PACE_SECONDS:.4f} "


async def streams(bench: Bench, count: int) -> list[Row]:
    """So many answers at once by one process. The model and all clients are a process on the same machine."""

    async def pace(_: int) -> None:
        await asyncio.sleep(PACE_SECONDS)

    usual, bench.world.answer, bench.world.pace = bench.world.answer, StampedPieces(), pace
    async with bench.process(run_concurrency=count) as (process, client):
        idle = process.memory_info().rss
        callers = [bench.users[at % USERS] for at in range(count)]
        sessions = [await _session(client, caller) for caller in callers]
        began = time.monotonic()
        following = [asyncio.create_task(_lateness(client, *one)) for one in zip(sessions, callers, strict=True)]
        most = idle
        while (await asyncio.wait(following, timeout=0.2))[1]:
            most = max(most, process.memory_info().rss)
        took = time.monotonic() - began
    bench.world.answer, bench.world.pace = usual, None
    late = [seconds for one in following for seconds in one.result()]
    return [
        (f"{count} streams at once: answers per second", f"{count / took:.1f}", ""),
        (f"  all ended (the model writes for {PIECES * PACE_SECONDS:.0f} s)", f"{took:.1f} s", ""),
        ("  from the model's piece to the client", spread(late), ""),
        ("  resident memory, idle and at most", f"{idle / 1e6:.0f} MB, {most / 1e6:.0f} MB", "400 MB at 200"),
    ]


async def _session(client: httpx2.AsyncClient, caller: Any) -> str:
    return str((await client.post("/v1/sessions", json={"title": "t"}, auth=caller)).json()["id"])


async def _lateness(client: httpx2.AsyncClient, session: str, caller: Any) -> list[float]:
    """Follows an answer to its end; returns how late each piece was."""
    late, ended = [], False
    async for name, data in _asked(client, session, caller):
        if name == "message_delta" and (stamps := data["text"].split()):
            late.append(time.monotonic() - float(stamps[0]))
        ended = ended or name == "run_completed"
    assert ended
    return late


async def _asked(
    client: httpx2.AsyncClient, session: str, caller: Any = None, **body: Any
) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    body, headers = {"content": "How long are tokens valid?", **body}, {"Accept": "text/event-stream"}
    signed = {"auth": caller} if caller else {}
    async with client.stream(
        "POST", f"/v1/sessions/{session}/messages", json=body, headers=headers, **signed
    ) as response:
        response.raise_for_status()
        async for event in httpx2.EventSource(response, max_event_size=None):
            yield event.event, json.loads(event.data)


async def _turn(client: httpx2.AsyncClient, session: str) -> float:
    began = time.perf_counter()
    async for name, _ in _asked(client, session, parent_id=None):
        assert name not in ("run_failed", "run_cancelled")
    return time.perf_counter() - began


async def stored(bench: Bench) -> list[Row]:
    """What is stored while the model writes the answer, in the first turn of a session and in a later one."""
    waiting, over = asyncio.Event(), asyncio.Event()

    async def pace(_: int) -> None:
        waiting.set()
        await over.wait()

    sizes = []
    async with bench.process() as (_, client):
        session = (await client.post("/v1/sessions", json={"title": "t"})).json()["id"]
        for turn in range(LATER):
            held = turn in (0, LATER - 1)
            bench.world.pace = pace if held else None
            following = asyncio.create_task(_ended(client, session))
            if held:
                await waiting.wait()
                sizes.append(await bench.checkpoint_bytes())
                over.set()
            await following
            waiting.clear()
            over.clear()
        while left := await bench.checkpoint_bytes():  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    first, last = sizes
    return [
        (f"checkpoints in turn 1 and turn {LATER}", f"{first / 1e3:.1f} kB, {last / 1e3:.1f} kB", ""),
        ("  as a ratio", f"{last / first:.2f}", "1.5"),
        ("  after the end", f"{left} B", "0"),
    ]


async def _ended(client: httpx2.AsyncClient, session: str) -> None:
    names = [name async for name, _ in _asked(client, session)]
    assert names[-1] == "run_completed", names


if __name__ == "__main__":
    for row in asyncio.run(conversations()):
        print(*row, sep="  ")
