"""The database's primary is killed while users work; its standby is promoted, and nothing acknowledged is lost."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import httpx2
import psycopg
import pytest
import rearranged_stack
from api_calls import client, listed
from database_servers import address, server, wait_for_standby
from rearranged_stack import DatabasePlace
from stack import EmbeddedStack

from embedded.engines.postgres import Postgres

ENGINES = {"postgres", "valkey", "object-store"}
PROMOTED_AFTER_SECONDS = 1.0


@dataclass
class Deployment:
    """A stack whose services know a primary and its standby."""

    stack: EmbeddedStack
    primary: Postgres
    standby: Postgres

    def pids(self) -> dict[str, int]:
        return {name: process.pid for name, process in self.stack.processes().items() if name not in ENGINES}

    async def fail_over(self) -> None:
        """Kills the primary (-9) and promotes the standby, as an operator or their tool does."""
        assert self.primary.child is not None
        os.kill(self.primary.child.pid, signal.SIGKILL)
        await asyncio.sleep(PROMOTED_AFTER_SECONDS)  # the time that somebody needs to notice
        with psycopg.connect(self.standby.url(), autocommit=True) as connection:
            connection.execute("SELECT pg_promote()")


@pytest.fixture
def deployment(tmp_path: Path) -> Iterator[Deployment]:
    with (
        server(tmp_path / "primary") as primary,
        server(tmp_path / "standby", of=primary) as standby,
        psycopg.connect(primary.url()) as connection,
    ):
        wait_for_standby(primary)
        assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)
        connection.close()
        hosts = f"{address(primary)},{address(standby)}"
        place = DatabasePlace(primary.url(), hosts, "?target_session_attrs=read-write")
        settings = {"RATE_LIMIT_PER_MINUTE": "0"} | rearranged_stack.variable({"*": place})
        folder = tmp_path / "stack"
        folder.mkdir()
        with EmbeddedStack.started(folder, (rearranged_stack.__file__,), **settings) as stack:
            yield Deployment(stack, primary, standby)


class Users:
    """Users who write notes and documents; `kept` is what was acknowledged, `pauses` the seconds between two."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self.http, self.kept, self.is_over = http, [], False
        self.last, self.longest = time.monotonic(), 0.0

    async def write(self, path: str, **body: object) -> None:
        headers = {"Idempotency-Key": str(uuid4())}
        while not self.is_over:
            try:
                answer = await self.http.post(path, headers=headers, **body)  # type: ignore[arg-type]
            except httpx2.TransportError:
                continue
            if answer.is_success:
                made = answer.json()
                found = made["files"][0]["document"] if "files" in made else made
                self.kept.append(f"{path}/{found['id']}")
                self.longest = max(self.longest, time.monotonic() - self.last)
                self.last = time.monotonic()
                return

    async def notes(self) -> None:
        while not self.is_over:
            await self.write("/v1/memories", json={"content": f"The number is {uuid4()}."})

    async def sessions(self) -> None:
        while not self.is_over:
            await self.write("/v1/sessions", json={"title": "t"})

    async def documents(self) -> None:
        while not self.is_over:
            text = f"# Page\n\nThe number is {uuid4()}.\n".encode()
            await self.write("/v1/documents", files=[("files", (f"{uuid4()}.md", text))])

    async def wrote(self, more: int) -> None:
        until = len(self.kept) + more
        while len(self.kept) < until:  # noqa: ASYNC110  the writers are tasks of this process
            await asyncio.sleep(0.05)


@pytest.mark.timeout(900)
async def test_nothing_acknowledged_is_lost_and_no_service_is_restarted(
    deployment: Deployment, capsys: pytest.CaptureFixture[str]
) -> None:
    before = deployment.pids()
    async with client(deployment.stack.url, deployment.stack.api_key) as http, asyncio.timeout(600):
        users = Users(http)
        async with asyncio.TaskGroup() as tasks:
            for work in (users.notes, users.sessions, users.documents, users.notes):
                tasks.create_task(work())
            await users.wrote(30)
            users.longest = 0.0
            await deployment.fail_over()
            await users.wrote(30)
            users.is_over = True
        with capsys.disabled():
            print(f"\npause at failover: {users.longest:.1f} s, {len(users.kept)} writes")  # noqa: T201
        notes = {f"/v1/memories/{note['id']}" for note in await listed(http, "/v1/memories")}
        for path in users.kept:
            assert path in notes or (await http.get(path)).is_success, path
        for path in (one for one in users.kept if one.startswith("/v1/documents/")):
            waiting = {"wait": "searchable", "timeout": 240}
            assert (await http.get(path, params=waiting)).json()["searchable_version"] == 1
    assert deployment.pids() == before
