"""A service's database through PgBouncer in transaction mode, where each transaction may get another connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import psycopg
import pytest
from database_servers import pgbouncer, pgbouncer_program

from service_kit.notifications import Notifications
from service_kit.postgres import Database

AT_ONCE = 20
SEEN = "SELECT current_setting('app.workspace_id'), pg_backend_pid()"


@pytest.fixture
def urls(make_database: Callable[..., Any]) -> Any:
    return make_database("memory")


@pytest.fixture
async def pooled(urls: Any, tmp_path: Path) -> AsyncIterator[Database]:
    """A pool of twenty connections to PgBouncer, which has three to the server."""
    parts = urlsplit(urls.service)
    login, _, server = parts.netloc.rpartition("@")
    user, password = login.split(":")
    with pgbouncer(pgbouncer_program(), tmp_path, server, {user: password}) as place:
        async with asyncio.timeout(120), Database(f"postgresql://{login}@{place}{parts.path}", AT_ONCE).opened() as one:
            yield one


async def test_each_transaction_sees_its_own_workspace(pooled: Database) -> None:
    async def seen(workspace_id: UUID) -> tuple[str, int]:
        async with pooled.workspace(workspace_id) as connection:
            await connection.execute("SELECT pg_sleep(0.01)")
            row: Any = await (await connection.execute(SEEN, prepare=True)).fetchone()
            return row

    workspaces = [uuid4() for _ in range(4 * AT_ONCE)]
    found = await asyncio.gather(*map(seen, workspaces))
    assert [workspace for workspace, _ in found] == list(map(str, workspaces))
    assert len({process for _, process in found}) <= 3
    async with pooled.pool.connection() as connection:
        left: Any = await (await connection.execute("SELECT current_setting('app.workspace_id', true)")).fetchone()
    assert not left[0]


async def test_prepared_statements_are_found_on_every_connection(pooled: Database) -> None:
    async def counted(number: int) -> int:
        async with pooled.system() as connection:
            row: Any = await (await connection.execute("SELECT %s::int + 1", (number,), prepare=True)).fetchone()
            answer: int = row[0]
            return answer

    for _ in range(3):
        assert await asyncio.gather(*map(counted, range(AT_ONCE))) == [number + 1 for number in range(AT_ONCE)]


async def test_two_transactions_share_a_snapshot(pooled: Database) -> None:
    workspace_id, export = uuid4(), "SELECT pg_export_snapshot() AS name, %(more)s AS more"
    async with (
        pooled.snapshot_with(workspace_id, {"jit": "off"}, export, {"more": 2}) as (_, first),
        pooled.snapshot(workspace_id, of=first["name"]) as other,
    ):
        row: Any = await (await other.execute("SELECT current_setting('app.workspace_id')")).fetchone()
    assert (row, first["more"]) == ((str(workspace_id),), 2)


async def test_the_time_limit_of_statements_is_the_roles(pooled: Database) -> None:
    async with pooled.system() as connection:
        row = await (await connection.execute("SHOW statement_timeout")).fetchone()
    assert row == ("30s",)


async def test_notifications_arrive_over_the_direct_url(pooled: Database, urls: Any) -> None:
    notifications = Notifications(urls.service, "news")
    async with notifications.subscribe("news") as news:
        listening = asyncio.create_task(notifications.run())
        assert await news.wait(60)  # that it listens
        async with pooled.system() as connection:
            await connection.execute("NOTIFY news")
        assert await news.wait(60)
        listening.cancel()
        with suppress(asyncio.CancelledError, psycopg.Error):
            await listening
