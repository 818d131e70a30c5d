"""Orchestrator processes on their own engines; the services that they call respond instantly, by script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import httpx2
import psutil
from deletion_owners import DeletionOwners
from deployment_keys import ACTORS, DELEGATED, DeploymentKeys
from doomed_orchestrator import serve
from orchestrator_service import orchestrator_fixtures
from served_apps import serving

from contracts.gateway import Role
from embedded.engines import Engines
from embedded.ports import free_port
from orchestrator.runs.repository import RunSql
from orchestrator.settings import Settings
from service_kit.auth import Principal
from service_kit.migrate import migrate
from service_kit.postgres import Database
from service_kit.repository import SystemRepository
from service_kit.tokens import Tokens

USERS = 8
SERVICE = orchestrator_fixtures()


@dataclass
class Bench:
    """Engines and fake services; `world` holds the responses of these."""

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
            others = await stack.enter_async_context(serving(SERVICE.other_services(world)))
            addresses = dict.fromkeys(("ingestion_url", "retrieval_url", "knowledge_graph_url", "memory_url"), others)
            settings = Settings.model_validate(
                {
                    **keys.settings("orchestrator"),
                    **addresses,
                    "database_url": database_url,
                    "redis_url": engines.redis_url("orchestrator"),
                    "s3_endpoint": engines.object_store.endpoint,
                    "s3_access_key": engines.object_store.access_key,
                    "s3_secret_key": engines.object_store.secret_key,
                    "s3_bucket": engines.object_store.bucket,
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
    """Returns an auth hook that signs each request with a new token, because tokens are short-lived."""

    def sign(request: httpx2.Request) -> httpx2.Request:
        request.headers["Authorization"] = f"Bearer {tokens.sign(caller, 'orchestrator')}"
        return request

    return sign


async def is_ready(client: httpx2.AsyncClient) -> bool:
    try:
        return (await client.get("/readyz")).status_code == 200
    except httpx2.TransportError:
        return False


async def new_session(client: httpx2.AsyncClient, caller: Any) -> str:
    return str((await client.post("/v1/sessions", json={"title": "t"}, auth=caller)).json()["id"])


async def message_events(
    client: httpx2.AsyncClient, session: str, caller: Any = None, **body: Any
) -> AsyncIterator[Any]:
    """Asks, and yields the run's events as they arrive."""
    body, headers = {"content": "How long are tokens valid?", **body}, {"Accept": "text/event-stream"}
    signed = {"auth": caller} if caller else {}
    async with client.stream(
        "POST", f"/v1/sessions/{session}/messages", json=body, headers=headers, **signed
    ) as response:
        response.raise_for_status()
        async for event in httpx2.EventSource(response, max_event_size=None):
            yield event
