"""A refinement whose process dies is continued by another, and only calls in progress are paid for twice."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from held_port import held_port

_spec = importlib.util.spec_from_file_location("scripted_chat_model", Path(__file__).with_name("chat_model.py"))
assert _spec is not None
assert _spec.loader is not None
chat_model = sys.modules.setdefault(_spec.name, importlib.util.module_from_spec(_spec))
_spec.loader.exec_module(chat_model)

CHUNKS = 8
AT_ONCE = 2
TEXTS = [f"The Router{number}DB greets the Gateway{number}DB every day." for number in range(CHUNKS)]


@pytest.fixture
async def world() -> AsyncIterator[chat_model.ChatWorld]:
    async with chat_model.served(chat_model.ChatWorld()) as world:
        yield world


@pytest.fixture
def environment(make_database, own_redis_url, token_keys, object_store, object_store_settings, world, owners):
    object_store.ensure_bucket()
    s3 = object_store_settings
    return {
        "DATABASE_URL": make_database("knowledge_graph").service,
        "REDIS_URL": own_redis_url("knowledge-graph"),
        **token_keys.environment("knowledge-graph"),
        "S3_ENDPOINT": s3.s3_endpoint,
        "S3_ACCESS_KEY": s3.s3_access_key,
        "S3_SECRET_KEY": s3.s3_secret_key.get_secret_value(),
        "S3_BUCKET": s3.s3_bucket,
        "CHAT_BASE_URL": world.url,
        "CHAT_MODEL": "scripted",
        "GATEWAY_URL": owners.url,
        "INGESTION_URL": owners.url,
        "GRAPH_PARSER": "false",
        "GRAPH_REFINEMENT_CONCURRENCY": str(AT_ONCE),
        "GRAPH_REFINEMENT_LEASE_SECONDS": "6",
    }


class Service:
    """A service in its own process."""

    def __init__(self, process: asyncio.subprocess.Process, http: httpx2.AsyncClient) -> None:
        self.process, self.http = process, http

    async def until(self, path, good):
        async with asyncio.timeout(120):
            while True:
                try:
                    answer = await self.http.get(path)
                    if answer.status_code == 200 and good(answer.json()):
                        return answer.json()
                except httpx2.TransportError:
                    assert self.process.returncode is None
                await asyncio.sleep(0.05)  # another process's state has no event

    async def kill(self):
        self.process.kill()
        await self.process.wait()


@asynccontextmanager
async def serving(environment, headers) -> AsyncIterator[Service]:
    with held_port() as port:
        values = {**os.environ, **environment, "PORT": str(port)}
        process = await asyncio.create_subprocess_exec(sys.executable, "-m", "knowledge_graph", "serve", env=values)
        options = {"base_url": f"http://127.0.0.1:{port}", "headers": headers, "trust_env": False, "timeout": 60}
        async with httpx2.AsyncClient(**options) as http:
            service = Service(process, http)
            try:
                await service.until("/readyz", lambda _: True)
                yield service
            finally:
                if process.returncode is None:
                    await service.kill()


async def test_only_calls_in_progress_are_paid_twice_after_a_kill(environment, documents, world, auth_headers):
    answered = []

    def three_at_first(text):
        answered.append(text)
        if len(answered) == 3:
            world.gate = asyncio.Event()  # from here on calls hang
        return chat_model.facts(text)

    world.answers = three_at_first
    async with serving(environment, auth_headers()) as service:
        await documents.send(documents.convert(TEXTS))
        await service.until("/v1/graph/documents", lambda one: one["items"])
        settings = {"enabled": True, "max_tokens": 1_000_000}
        turned_on = await service.http.patch("/v1/graph/refinement/settings", json=settings)
        assert turned_on.status_code == 200
        # Two calls may have run concurrently at first, so one more may have been answered before the gate closed.
        await service.until("/v1/graph/refinement", lambda _: world.at_once == AT_ONCE and len(answered) >= 3)
        before = await service.until("/v1/graph/refinement", lambda one: one["refined_chunks"] == len(answered))
        await service.kill()
    under_way = len(world.asked) - len(answered)
    assert under_way <= AT_ONCE
    gate, world.gate, world.answers = world.gate, None, chat_model.facts
    assert gate is not None
    gate.set()
    asked_before = list(world.asked)
    async with serving(environment, auth_headers()) as service:
        after = await service.until(
            "/v1/graph/refinement", lambda one: one["state"] == "waiting" and not one["unapplied_documents"]
        )
    assert (after["refined_chunks"], after["pending_chunks"], after["failed_chunks"]) == (CHUNKS, 0, 0)
    assert after["calls"] == CHUNKS
    assert before["refined_chunks"] + len(world.asked) - len(asked_before) == CHUNKS
    twice = {text for text, times in Counter(world.asked).items() if times > 1}
    assert twice == set(asked_before) - set(answered)
    assert max(Counter(world.asked).values()) <= 2
