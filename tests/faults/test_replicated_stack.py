"""Every service twice, behind PgBouncer: workspaces stay apart, and users notice no kill and no restart of all."""

from __future__ import annotations

import asyncio
import itertools
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx2
import psutil
import pytest
import rearranged_stack
from api_calls import client, events_of, new_tenant
from database_servers import SCHEMAS, address, pgbouncer, pgbouncer_program, server
from isolation import assert_no_route_reveals_the_other, assert_the_first_is_unchanged, neighbours
from rearranged_stack import SECOND, DatabasePlace
from stack import PATIENT, EmbeddedStack

from embedded.data_folder import DataFolder

pytestmark = pytest.mark.timeout(900)
REPLICATED = ("retrieval", "knowledge-graph", "memory", "ingestion", "ingestion-worker", "orchestrator")
CONNECTIONS = 12
QUESTION = "Where does the otter live?"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStack]:
    """Each service but the gateway has two processes, and all have a pooler instead of their database server."""
    folder = tmp_path_factory.mktemp("stack")
    data = DataFolder(folder)
    data.create()
    passwords = {role: data.credentials.named(role) for role in (f"attractor_{schema}" for schema in SCHEMAS)}
    pooled = tmp_path_factory.mktemp("pooler")
    pooled.chmod(0o711)
    with (
        server(tmp_path_factory.mktemp("server") / "data") as database,
        pgbouncer(pgbouncer_program(), pooled, address(database), passwords, CONNECTIONS) as pooler,
    ):
        place = DatabasePlace(database.url(), pooler, direct=address(database))
        settings = PATIENT | {"RATE_LIMIT_PER_MINUTE": "0", "WAITS_IN_FLIGHT_PER_KEY": "0", "REPLICAS": "2"}
        settings |= rearranged_stack.databases({"*": place})
        with EmbeddedStack.started(folder, (rearranged_stack.__file__,), **settings) as running:
            yield running


@pytest.fixture
async def http(stack: EmbeddedStack) -> AsyncIterator[httpx2.AsyncClient]:
    async with client(stack.url, stack.api_key) as admin:
        yield admin


@dataclass
class Users:
    """What users do until `is_over`; `failed` are the requests that did not succeed."""

    http: httpx2.AsyncClient
    failed: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    requests: int = 0
    resumed: int = 0
    is_over: bool = False

    async def send(self, method: str, path: str, **more: Any) -> Any:
        """Returns the body; a POST has the key with which it may be repeated, as the client library sends it."""
        response = await self.http.request(method, path, headers={"Idempotency-Key": str(uuid4())}, **more)
        self.requests += 1
        if not response.is_success:
            self.failed.append(f"{method} {path}: {response.status_code} {response.text}")
        assert response.headers.get("content-type", "").split("+")[-1].endswith("json"), (path, response, response.text)
        return response.json()

    async def read(self) -> None:
        for path in itertools.cycle(("sessions", "documents", "memories", "graph/entities", "sources")):
            if self.is_over:
                return
            await self.send("GET", f"/v1/{path}")

    async def search(self) -> None:
        while not self.is_over:
            await self.send("POST", "/v1/search", json={"query": QUESTION})

    async def write(self) -> None:
        while not self.is_over:
            text = f"# Otter\n\nThe otter {uuid4()} lives in the holt.\n".encode()
            uploaded = await self.send("POST", "/v1/documents", files=[("files", (f"{uuid4()}.md", text))])
            document = uploaded["files"][0]["document"]
            while document["status"] == "processing":
                waiting = {"wait": "searchable", "timeout": 60}
                document = await self.send("GET", f"/v1/documents/{document['id']}", params=waiting)
            self.documents.append(document["status"])
            await self.send("POST", "/v1/memories", json={"content": f"The number is {uuid4()}."})

    async def converse(self) -> None:
        while not self.is_over:
            session = await self.send("POST", "/v1/sessions", json={"title": "t"})
            run = await self.send("POST", f"/v1/sessions/{session['id']}/messages", json={"content": QUESTION})
            self.runs.append(run["id"])
            await self.follow(run["id"])

    async def follow(self, run_id: str) -> None:
        """Reads a run's events to its end, taking up a stream where it broke off, and checks that none is missing."""
        last, seen = "", list[str]()
        while not {"run_completed", "run_failed"} & set(seen):
            headers = {"Last-Event-ID": last} if last else {}
            try:
                async with self.http.stream("GET", f"/v1/runs/{run_id}/events", headers=headers) as response:
                    if not response.is_success:
                        self.failed.append(f"events: {response.status_code} {await response.aread()!r}")
                        return
                    async for event in events_of(response):
                        last = event[0]
                        seen.append(event[1])
            except httpx2.TransportError:
                self.resumed += 1
        assert seen[0] == "run_started"
        assert {"message_completed", "run_completed"} <= set(seen)

    async def go_on(self, requests: int = 20) -> None:
        """Waits for that many more requests."""
        until = self.requests + requests
        while self.requests < until:  # noqa: ASYNC110  the users are tasks of this process, and all advance it
            await asyncio.sleep(0.05)


@asynccontextmanager
async def working(http: httpx2.AsyncClient) -> AsyncIterator[Users]:
    """Users read, search, write and ask until the block ends and their answers are complete."""
    users = Users(http)
    async with asyncio.timeout(600), asyncio.TaskGroup() as tasks:
        for work in (users.read, users.search, users.write, users.converse, users.converse):
            tasks.create_task(work())
        yield users
        users.is_over = True


async def back(stack: EmbeddedStack, was: dict[str, psutil.Process]) -> None:
    """Waits until other processes than these have started and are ready."""
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as http:
        for name, old in was.items():
            while not await _ready(http, stack.processes().get(name), old):  # noqa: ASYNC110  another process's work
                await asyncio.sleep(0.1)


async def _ready(http: httpx2.AsyncClient, process: psutil.Process | None, old: psutil.Process) -> bool:
    if process is None or process == old:
        return False
    environment = process.environ()
    if "PORT" not in environment:  # a worker's second process
        return True
    try:
        return (await http.get(f"http://{environment['HOST']}:{environment['PORT']}/readyz")).is_success
    except httpx2.TransportError:
        return False


async def test_workspaces_stay_apart(stack: EmbeddedStack, http: httpx2.AsyncClient, tmp_path: Path) -> None:
    async with neighbours(partial(new_tenant, stack.url, http), tmp_path) as both:
        await assert_no_route_reveals_the_other(both)
        await assert_the_first_is_unchanged(both)


def test_the_services_have_no_connection_beyond_the_poolers_but_for_notifications(stack: EmbeddedStack) -> None:
    names = {f"{name}{end}" for name in REPLICATED for end in ("", SECOND)}
    processes = stack.processes()
    assert names <= processes.keys()
    connections = [(name, one.raddr.port) for name, _, one in stack.connections("inet") if one.raddr]
    for name in names:
        direct = urlsplit(processes[name].environ()["DATABASE_DIRECT_URL"]).port
        assert connections.count((name, direct)) <= 1, name


async def test_no_request_fails_and_no_run_is_lost_when_one_is_killed_and_all_are_restarted(
    stack: EmbeddedStack, http: httpx2.AsyncClient
) -> None:
    async with working(http) as users:
        await users.go_on()
        processes = stack.processes()
        killed = {name: processes[name] for name in ("orchestrator", f"retrieval{SECOND}")}
        for name in killed:
            stack.kill(name)
            await users.go_on()
        await back(stack, killed)
        for end in ("", SECOND):  # one half after the other
            processes = stack.processes()
            stopped = {name: processes[name] for name in (f"{one}{end}" for one in REPLICATED)}
            for process in stopped.values():
                process.send_signal(signal.SIGTERM)
            await back(stack, stopped)
            await users.go_on()
    assert users.failed == []
    for run_id in users.runs:
        assert (await http.get(f"/v1/runs/{run_id}")).json()["status"] == "completed"
    assert set(users.documents) == {"searchable"}
