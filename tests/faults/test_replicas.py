"""Two replicas of the orchestrator behind the gateway, under load."""

from __future__ import annotations

import asyncio
import itertools
import re
import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any
from uuid import uuid4

import httpx2
import pytest
import replicated_orchestrator
from held_port import held_port
from orchestrator_service import orchestrator_fixtures
from served_apps import serving

from gateway.app import create_app
from gateway.settings import Settings as GatewaySettings

service_tests = orchestrator_fixtures()
world, others, settings = service_tests.world, service_tests.others, service_tests.settings
model_settings, image_bucket = service_tests.model_settings, service_tests.image_bucket

NAME = "orchestrator.test"
HOSTS = ("127.0.0.1", "127.0.0.2")
NONE_KEPT = httpx2.Limits(max_keepalive_connections=0)  # where the machine stalls, the server would close them in use
PIECES = ["Tokens ", "expire ", "after ", "fifteen ", "minutes ", "[1]."]
PROCESSES = get_context("forkserver")
PROCESSES.set_forkserver_preload(["replicated_orchestrator"])
ANSWERED = re.compile(r'attractor_http_request_seconds_count\{[^}]*route="/v1/[^}]*\} (\d+)')


class Replica:
    """A process at one of the addresses of the name."""

    def __init__(self, settings: Any, host: str, port: int) -> None:
        self.settings = settings.model_copy(update={"host": host, "port": port})
        self.url = f"http://{host}:{port}"
        self.process = PROCESSES.Process(target=replicated_orchestrator.run, args=[self.settings])

    async def start(self) -> None:
        """Returns when it is ready."""
        self.process = PROCESSES.Process(target=replicated_orchestrator.run, args=[self.settings])
        await asyncio.to_thread(self.process.start)
        async with httpx2.AsyncClient(base_url=self.url, timeout=60) as client:
            while True:
                try:
                    if (await client.get("/readyz")).is_success:
                        return
                except httpx2.ConnectError:
                    assert self.process.exitcode is None
                await asyncio.sleep(0.05)  # another process's port has no event

    async def served(self) -> int:
        """Returns how many requests it has answered, of all kinds, as they take turns whatever they ask for."""
        async with httpx2.AsyncClient(base_url=self.url, timeout=60) as client:
            return sum(map(int, ANSWERED.findall((await client.get("/metrics")).text)))


@pytest.fixture
async def replicas(model_settings: Any, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[list[Replica]]:
    """Two replicas that are ready; `NAME` has both addresses."""
    found = socket.getaddrinfo

    def addresses(host: Any, port: Any, *more: Any, **options: Any) -> Any:
        if host != NAME:
            return found(host, port, *more, **options)
        return [entry for one in HOSTS for entry in found(one, port, *more, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", addresses)
    with held_port() as port:
        both = [Replica(model_settings, host, port) for host in HOSTS]
        try:
            await asyncio.gather(*(one.start() for one in both))
            yield both
        finally:
            for one in both:
                if one.process.is_alive():
                    one.process.kill()
                    await asyncio.to_thread(one.process.join)


@pytest.fixture
async def client(
    replicas: list[Replica], make_database: Any, own_redis_url: Any, token_keys: Any, others: str
) -> AsyncIterator[httpx2.AsyncClient]:
    """An administrator's client of a gateway in front of the replicas."""
    key = secrets.token_hex(32)
    gateway = GatewaySettings.model_validate(
        {f"{name}_url": others for name in ("ingestion", "retrieval", "knowledge_graph", "memory")}
        | {
            **token_keys.settings("gateway"),
            "orchestrator_url": f"http://{NAME}:{replicas[0].settings.port}",
            "database_url": (await asyncio.to_thread(make_database, "gateway")).service,
            "redis_url": own_redis_url("gateway"),
            "admin_api_key": key,
            "rate_limit_per_minute": 0,
            "waits_in_flight_per_key": 0,
        }
    )
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        serving(create_app(gateway)) as url,
        httpx2.AsyncClient(base_url=url, headers=headers, timeout=120, limits=NONE_KEPT) as client,
    ):
        yield client


@dataclass
class Load:
    """What users do; `failed` are the requests that did not succeed."""

    client: httpx2.AsyncClient
    failed: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    requests: int = 0
    resumed: int = 0
    is_over: bool = False

    async def ask(self, method: str, path: str, **more: Any) -> httpx2.Response:
        response = await self.client.request(method, path, **more)
        self.requests += 1
        if not response.is_success:
            self.failed.append(f"{method} {path}: {response.status_code} {response.text}")
        return response

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Sends a POST that may be repeated, as the client library does."""
        answer: dict[str, Any] = (
            await self.ask("POST", path, json=body, headers={"Idempotency-Key": str(uuid4())})
        ).json()
        return answer

    async def read(self) -> None:
        while not self.is_over:
            await self.ask("GET", "/v1/sessions")

    async def converse(self) -> None:
        while not self.is_over:
            session = await self.post("/v1/sessions", {"title": "t"})
            run = await self.post(f"/v1/sessions/{session['id']}/messages", {"content": "How long are tokens valid?"})
            self.runs.append(run["id"])
            assert await self.followed(run["id"]) == "".join(PIECES)

    async def followed(self, run_id: str) -> str:
        """Returns the answer as a client shows it that takes up a stream where it broke off."""
        text, last = "", ""
        while True:
            headers = {"Last-Event-ID": last} if last else {}
            try:
                async with self.client.stream("GET", f"/v1/runs/{run_id}/events", headers=headers) as response:
                    if response.status_code != 200:
                        self.failed.append(f"events: {response.status_code} {await response.aread()!r}")
                    async for event in service_tests.received(response):
                        last = event.id
                        if event.name == "message_delta":
                            text += event.data["text"]
                        elif event.name == "message_restarted":
                            text = ""
                        elif event.name in ("run_completed", "run_failed"):
                            return text
            except httpx2.TransportError:
                self.resumed += 1

    async def goes_on(self, requests: int = 15) -> None:
        """Waits for that many more requests."""
        until = self.requests + requests
        while self.requests < until:  # noqa: ASYNC110  the users are tasks of this process, and all advance it
            await asyncio.sleep(0.05)


@asynccontextmanager
async def load(client: httpx2.AsyncClient) -> AsyncIterator[Load]:
    """Two users who read and two who ask, until the block ends and their answers are complete."""
    users = Load(client)
    async with asyncio.timeout(500), asyncio.TaskGroup() as tasks:
        for work in itertools.chain.from_iterable([(users.read, users.converse)] * 2):
            tasks.create_task(work())
        try:
            yield users
        finally:
            users.is_over = True


@pytest.mark.timeout(600)
async def test_requests_are_shared_evenly(client: httpx2.AsyncClient, replicas: list[Replica], world: Any) -> None:
    world.answer = PIECES
    async with load(client) as users:
        await users.goes_on(150)
    one, other = [await replica.served() for replica in replicas]
    assert users.failed == []
    assert abs(one - other) <= 0.2 * (one + other) / 2, (one, other)
