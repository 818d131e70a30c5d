"""The primary of a database is killed under load, and its standby promoted."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import psycopg
import pytest
from database_servers import address, server, wait_for_standby

from embedded.engines.postgres import Postgres
from service_kit.background import Background
from service_kit.notifications import Notifications
from service_kit.postgres import Database
from service_kit.problems import Unavailable
from service_kit.telemetry import Metrics

WRITERS, WRITES = 4, 50


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[tuple[Postgres, Postgres]]:
    """A primary and its synchronous standby."""
    with server(tmp_path / "primary") as primary, server(tmp_path / "standby", of=primary) as standby:
        wait_for_standby(primary)
        with psycopg.connect(primary.url()) as connection:
            connection.execute("CREATE TABLE note (number int PRIMARY KEY)")
        yield primary, standby


class Written:
    """The numbers whose commits were acknowledged, and the longest time between two."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.last, self.pause, self.next = time.monotonic(), 0.0, 0

    def add(self, number: int) -> None:
        self.numbers.append(number)
        self.pause, self.last = max(self.pause, time.monotonic() - self.last), time.monotonic()

    async def more(self, writes: int) -> None:
        until = len(self.numbers) + writes
        while len(self.numbers) < until:  # noqa: ASYNC110  the writers are tasks of this process
            await asyncio.sleep(0.01)


@asynccontextmanager
async def writing(database: Database) -> AsyncIterator[Written]:
    """Writes until the block ends; a write that fails is tried again with its number, as users and queues do."""
    written = Written()

    async def write() -> None:
        while True:
            written.next += 1
            number, done = written.next, False
            while not done:
                with suppress(psycopg.OperationalError, Unavailable):
                    async with database.system() as connection:
                        await connection.execute("INSERT INTO note VALUES (%s) ON CONFLICT DO NOTHING", (number,))
                    done = True
                await asyncio.sleep(0.01)
            written.add(number)

    tasks = [asyncio.create_task(write()) for _ in range(WRITERS)]
    try:
        yield written
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


@pytest.mark.timeout(300)
async def test_nothing_acknowledged_is_lost_and_listeners_are_back(
    servers: tuple[Postgres, Postgres], capsys: pytest.CaptureFixture[str]
) -> None:
    primary, standby = servers
    login = primary.url().rpartition("@")[0]
    url = f"{login}@{address(primary)},{address(standby)}/attractor?target_session_attrs=read-write"
    notifications = Notifications(url, "news")
    async with (
        asyncio.timeout(240),
        Database(url, WRITERS + 1).opened() as database,
        Background(Metrics()) as background,
        writing(database) as written,
    ):
        background.start("notifications", notifications.run)
        await written.more(WRITES)
        written.pause = 0.0
        assert primary.child is not None
        os.kill(primary.child.pid, signal.SIGKILL)
        with psycopg.connect(standby.url(), autocommit=True) as operator:
            operator.execute("SELECT pg_promote()")
        await written.more(WRITES)
        pause = written.pause
        async with notifications.subscribe("news") as news:
            while not await news.wait(0.5):
                async with database.system() as connection:
                    await connection.execute("NOTIFY news")
        acknowledged = set(written.numbers)
    with capsys.disabled():
        print(f"\npause at failover: {pause:.2f} s")  # noqa: T201  a figure, not a condition
    with psycopg.connect(standby.url()) as connection:
        kept = {number for (number,) in connection.execute("SELECT number FROM note").fetchall()}
    assert acknowledged <= kept
