"""LangGraph's checkpoints in Postgres.

Their tables come from the library and have no workspace column: a thread's id is the id of a run, and is only reached
through the run's row, which is protected. A policy opens them to the worker's own pool alone; a transaction of a
request, which is bound to a workspace, sees no row of them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import AsyncConnection, sql
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool

LOCK = 4_201_871_510
TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes", "checkpoint_migrations")


@asynccontextmanager
async def opened(url: str, size: int) -> AsyncIterator[AsyncPostgresSaver]:
    """Opens a saver on a pool of its own."""
    pool: AsyncConnectionPool[AsyncConnection[DictRow]] = AsyncConnectionPool(
        url,
        min_size=1,
        max_size=size,
        open=False,
        check=AsyncConnectionPool.check_connection,
        kwargs={
            "autocommit": True,
            "prepare_threshold": 0,
            "row_factory": dict_row,
            "options": "-c app.scope=system -c statement_timeout=30s",
            "connect_timeout": 5,
        },
    )
    async with pool:
        yield AsyncPostgresSaver(pool)


class _Tables(PostgresSaver):
    """Builds indexes at once: the tables hold only what is running, and a concurrent build would wait for every
    snapshot in the database, also for that of a process which waits for the lock below."""

    MIGRATIONS = [statement.replace("CONCURRENTLY", "") for statement in PostgresSaver.MIGRATIONS]


def prepare(admin_url: str, schema: str) -> None:
    """Creates or upgrades the tables as the administrator; the service's role gets its rights by the schema's defaults.

    Call it after the migrations. It is safe to repeat and to race.
    """
    with psycopg.Connection.connect(
        admin_url, autocommit=True, prepare_threshold=0, row_factory=dict_row
    ) as connection:
        connection.execute(sql.SQL("SET search_path = {}, public").format(sql.Identifier(schema)))
        connection.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
        _Tables(connection).setup()
        for table in map(sql.Identifier, TABLES):
            connection.execute(sql.SQL("ALTER TABLE {} ENABLE ROW LEVEL SECURITY").format(table))
            connection.execute(sql.SQL("DROP POLICY IF EXISTS system ON {}").format(table))
            connection.execute(
                sql.SQL("CREATE POLICY system ON {} USING (is_system()) WITH CHECK (is_system())").format(table)
            )
