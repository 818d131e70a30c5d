"""One bounded pool per process; a transaction sees one workspace, by row-level security."""

from __future__ import annotations

import select
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection, DatabaseError, sql
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from service_kit.problems import Unavailable, WorkspaceGone

Connection = AsyncConnection[TupleRow]
STATEMENT_TIMEOUT = "30s"
POOL_TIMEOUT_SECONDS = 10.0
WORKSPACE_GONE = "WS404"
BEGIN = sql.SQL("BEGIN")


class Database:
    """The pool. A block of `workspace` or `system` is one transaction: commit at its end, rollback on an error."""

    def __init__(self, url: str, size: int = 8, **connect: Any) -> None:
        self.pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            url,
            min_size=1,
            max_size=size,
            timeout=POOL_TIMEOUT_SECONDS,
            open=False,
            check=check_unless_silent,
            # Transactions are opened here, in one round trip with what they begin with.
            kwargs={
                "options": f"-c statement_timeout={STATEMENT_TIMEOUT}",
                "connect_timeout": 5,
                "autocommit": True,
                **connect,
            },
        )

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Database]:
        """Opens the pool for the block and closes it with every connection at its end."""
        async with self.pool:
            yield self

    @asynccontextmanager
    async def workspace(self, workspace_id: UUID) -> AsyncIterator[Connection]:
        """A transaction that sees the rows of this workspace and no others; raises Unavailable when none is free.

        Raises WorkspaceGone when a row was to be written to a workspace that is deleted.
        """
        async with self._transaction({"app.workspace_id": str(workspace_id)}) as connection:
            yield connection

    @asynccontextmanager
    async def snapshot(
        self, workspace_id: UUID, of: str | None = None, settings: Mapping[str, str] | None = None
    ) -> AsyncIterator[Connection]:
        """As `workspace`, to read alone: every statement sees the state of the first (repeatable read).

        `of` is what `pg_export_snapshot()` gave in another transaction that is still open: the state is that one's.
        `settings` are the server's, for this transaction.
        """
        begin: sql.SQL | sql.Composed = sql.SQL("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        if of is not None:
            begin = sql.SQL("{}; SET TRANSACTION SNAPSHOT {}").format(begin, sql.Literal(of))
        values = {"app.workspace_id": str(workspace_id), **(settings or {})}
        async with self._transaction(values, begin) as connection:
            yield connection

    @asynccontextmanager
    async def system(self) -> AsyncIterator[Connection]:
        """A transaction over the work queues of all workspaces (tables under `protect_queue`), and nothing else."""
        async with self._transaction({"app.scope": "system"}) as connection:
            yield connection

    @asynccontextmanager
    async def _transaction(
        self, settings: Mapping[str, str], begin: sql.SQL | sql.Composed = BEGIN
    ) -> AsyncIterator[Connection]:
        try:
            leased = self.pool.connection()
            connection = await leased.__aenter__()
        except PoolTimeout as error:
            raise Unavailable("the database did not give a connection in time") from error
        try:
            each = [sql.SQL("set_config({}, {}, true)").format(*pair) for pair in settings.items()]
            opening = sql.SQL("{}; SELECT {}").format(begin, sql.SQL(", ").join(each))
            await connection.execute(opening, prepare=False)
            yield connection
        except BaseException as error:
            await leased.__aexit__(type(error), error, error.__traceback__)
            if is_workspace_gone(error):
                raise WorkspaceGone from error
            raise
        else:
            await leased.__aexit__(None, None, None)

    async def check(self) -> None:
        """A health check."""
        async with self.pool.connection(timeout=2) as connection:
            await connection.execute("SELECT 1")


async def check_unless_silent(connection: Connection) -> None:
    """The pool's check of an idle connection, without a round trip for one on which the server has said nothing: when
    it goes away, or ends a session, it says so.
    """
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    if waiting.poll(0):
        await AsyncConnectionPool.check_connection(connection)


def is_workspace_gone(error: BaseException) -> bool:
    """Whether PostgreSQL refused a row because its workspace is deleted."""
    return isinstance(error, DatabaseError) and error.diag.sqlstate == WORKSPACE_GONE
