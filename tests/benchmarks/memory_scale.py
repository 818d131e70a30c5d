"""Recall and writing among many memories: make bench ARGS="--only memory".

BENCH_MEMORIES ("100000 1000000") are the sizes of the workspaces: one user has most of the memories, others 50 each.
The service is a process of its own, and embeds the questions itself. A turn is an event with a question and an answer.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID, uuid4

import httpx2
import psutil
from benchmarks.figures import Row, run, spread
from benchmarks.memory_loading import Owner, Texts, load, owners_of
from deployment_keys import DeploymentKeys
from redis.asyncio import Redis

from contracts.events import TURNS, Event, TurnCompleted
from contracts.gateway import Role
from embedded.engines import Engines
from embedded.ports import free_port
from service_kit.auth import Principal
from service_kit.event_signatures import EventSignatures
from service_kit.migrate import migrate

OF_ONE = "recall of the user who has most of them"
AIMS = {OF_ONE: {100_000: "40 ms", 1_000_000: "80 ms"}}
SMALL, OF_SMALL = 100, 50
QUESTIONS, TURNS_WRITTEN, TURNS_RECALLED = 200, 200, 20
Samples: TypeAlias = dict[UUID, list[str]]
NOBODY = "http://127.0.0.1:1"  # nothing is deleted here
READY_SECONDS, PAUSE_SECONDS = 60.0, 0.01


def memory_scale() -> list[Row]:
    """Returns the figures of each size."""
    rows, texts = list[Row](), Texts()
    for size in map(int, os.environ.get("BENCH_MEMORIES", "100000 1000000").split()):
        with tempfile.TemporaryDirectory(prefix="attractor-memories-") as folder:
            Path(folder).chmod(0o711)
            with Engines.start(Path(folder) / "engines") as engines:
                rows += run(_at_size(engines, size, texts))
    return rows


async def _at_size(engines: Engines, size: int, texts: Texts) -> list[Row]:
    place = urlsplit(engines.admin_database_url)
    login = f"attractor_memory:benchmark@{place.netloc.rpartition('@')[2]}"
    url = urlunsplit(place._replace(netloc=login))
    migrate(engines.admin_database_url, url, "memory", "memory")
    workspace_id, owners = uuid4(), list(owners_of(size, SMALL, OF_SMALL))
    began = time.perf_counter()
    samples = await asyncio.to_thread(load, engines.admin_database_url, workspace_id, owners, texts)
    print(f"loaded {size} memories in {time.perf_counter() - began:.0f} s", file=sys.stderr)
    async with MemoryService.opened(engines, url) as service:
        many, few = service.of(workspace_id, owners[0]), [service.of(workspace_id, one) for one in owners[1:]]
        alone = service.of(uuid4(), Owner(uuid4(), 0))
        rows = []
        async for row in _figures(many, few, alone, samples, texts):
            print(size, *row, file=sys.stderr, flush=True)
            rows.append(row)
        rows.append(("memory of the process", f"{service.process.memory_info().rss / 1e6:.0f} MB", ""))
    return [
        (f"{size:,} memories: {name}", measured, aim or AIMS.get(name, {}).get(size, ""))
        for name, measured, aim in rows
    ]


async def _figures(
    many: Remembering, few: Sequence[Remembering], alone: Remembering, samples: Samples, texts: Texts
) -> AsyncIterator[Row]:
    [first] = await many.recalled([texts.question(samples[many.user_id][0])])
    yield "first recall, which reads the index", f"{first:.1f} s", ""
    asked = [texts.question(str(texts.dice.choice(samples[many.user_id]))) for _ in range(QUESTIONS)]
    yield OF_ONE, spread(await many.recalled(asked)), ""
    times = list[float]()
    for one in few:
        [_, *rest] = await one.recalled([texts.question(text) for text in samples[one.user_id][:3]])
        times += rest
    yield f"recall of a user with {OF_SMALL} of them", spread(times), "40 ms"
    for name, caller in (("an empty workspace", alone), ("this workspace", few[0]), ("this user's", many)):
        rate = await caller.written([texts.message() for _ in range(TURNS_WRITTEN)])
        yield f"turns written in {name}", f"{rate:.0f}/s", ""
    for name, caller in (("this workspace", few[0]), ("this user's", many)):
        yield (
            f"end of a turn to recalled, in {name}",
            spread(await caller.until_recalled([texts.message() for _ in range(TURNS_RECALLED)])),
            "2 s",
        )


class MemoryService:
    """The running service, and the stream that it reads."""

    def __init__(self, http: httpx2.AsyncClient, redis: Redis, keys: DeploymentKeys, process: psutil.Process) -> None:
        self.http, self.redis, self.tokens, self.process = http, redis, keys.tokens("gateway"), process
        signing = keys.tokens("orchestrator")
        self.signatures = EventSignatures(signing.key, signing.known, datetime.now(UTC))

    @classmethod
    @asynccontextmanager
    async def opened(cls, engines: Engines, database_url: str) -> AsyncIterator[MemoryService]:
        keys, port = DeploymentKeys(), free_port([])
        environment = {
            "PORT": str(port),
            **keys.environment("memory"),
            "DATABASE_URL": database_url,
            "REDIS_URL": engines.redis_url("memory"),
            **dict.fromkeys(("GATEWAY_URL", "INGESTION_URL", "ORCHESTRATOR_URL"), NOBODY),
            "LOG_LEVEL": "WARNING",
            "RECALL_INDEX_BYTES": str(8 << 30),
        }
        command = [sys.executable, "-m", "memory", "serve"]
        child = await asyncio.create_subprocess_exec(*command, env=os.environ | environment)
        try:
            async with (
                httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=600) as http,
                Redis.from_url(engines.admin_redis_url, decode_responses=True) as redis,
            ):
                await _ready(http)
                yield cls(http, redis, keys, psutil.Process(child.pid))
        finally:
            child.terminate()
            await child.wait()

    def of(self, workspace_id: UUID, owner: Owner) -> Remembering:
        return Remembering(self, workspace_id, owner.user_id)


class Remembering:
    """A user of the service."""

    def __init__(self, service: MemoryService, workspace_id: UUID, user_id: UUID) -> None:
        self.service, self.workspace_id, self.user_id = service, workspace_id, user_id

    async def recalled(self, questions: Sequence[str]) -> list[float]:
        """Returns the seconds of each recall, one after another."""
        return [(await self._recall(question))[0] for question in questions]

    async def written(self, messages: Sequence[str]) -> float:
        """Returns turns per second, from the first event to the last acknowledgement."""
        began = time.perf_counter()
        for text in messages:
            await self._turn(text)
        while not await self._drained():  # noqa: ASYNC110  Redis has no event for it
            await asyncio.sleep(PAUSE_SECONDS)
        return len(messages) / (time.perf_counter() - began)

    async def until_recalled(self, messages: Sequence[str]) -> list[float]:
        """Returns the seconds from the event of a turn until a recall finds its question, for turns one by one."""
        times = []
        await self._recall("hello")  # the index is kept from here on
        for text in messages:
            began = time.perf_counter()
            await self._turn(text)
            async with asyncio.timeout(READY_SECONDS):
                while text not in (await self._recall(text))[1]:  # noqa: ASYNC110
                    await asyncio.sleep(PAUSE_SECONDS)
            times.append(time.perf_counter() - began)
        return times

    async def _recall(self, question: str) -> tuple[float, list[str]]:
        began = time.perf_counter()
        principal = Principal(self.user_id, self.workspace_id, Role.owner)
        headers = {"Authorization": f"Bearer {self.service.tokens.sign(principal, 'memory')}"}
        response = await self.service.http.post(
            "/v1/memories/recall", json={"query": question, "k": 10}, headers=headers
        )
        found = [one["content"] for one in response.raise_for_status().json()["memories"]]
        return time.perf_counter() - began, found

    async def _turn(self, text: str) -> None:
        now, answer = datetime.now(UTC), "Noted, and thank you for the details."
        ids = {name: uuid4() for name in ("session_id", "run_id", "question_id", "answer_id")}
        turn = TurnCompleted(
            **ids, user_id=self.user_id, asked_at=now, time_zone="UTC", question=text, answer=answer, document_ids=[]
        )
        event = Event(
            id=uuid4(),
            source=turn.sources[0],
            type=turn.event_type,
            time=now,
            subject="benchmark",
            workspace_id=self.workspace_id,
            data=turn.model_dump(mode="json"),
        )
        await self.service.redis.xadd(TURNS, self.service.signatures.sign(TURNS, event.model_dump_json()))

    async def _drained(self) -> bool:
        groups = {group["name"]: group for group in await self.service.redis.xinfo_groups(TURNS)}
        return "memory" in groups and (groups["memory"]["lag"], groups["memory"]["pending"]) == (0, 0)


async def _ready(http: httpx2.AsyncClient) -> None:
    async with asyncio.timeout(READY_SECONDS):
        while True:
            try:
                (await http.get("/readyz")).raise_for_status()
                return
            except httpx2.HTTPError:
                await asyncio.sleep(0.1)
