"""One bounded pool per process; a transaction sees one workspace, by row-level security."""

from __future__ import annotations

import select
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection, AsyncCursor, DatabaseError, sql
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from service_kit.problems import Unavailable, WorkspaceGone

Connection = AsyncConnection[TupleRow]
STATEMENT_TIMEOUT = "30s"
POOL_TIMEOUT_SECONDS = 10.0
WORKSPACE_GONE = "WS404"
BEGIN = "BEGIN"
BEGIN_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"


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
    async def workspace(
        self, workspace_id: UUID, *, user_id: UUID | None = None, durable: bool = True
    ) -> AsyncIterator[Connection]:
        """Opens a transaction that sees the rows of this workspace alone. Raises Unavailable if no connection is free.

        With `user_id`, rows that belong to another user are not seen either, where a table says whose they are.
        Unless it is `durable`, its commit does not wait for the disk: the next durable one, of whomever, keeps it too,
        and only a crash of PostgreSQL before that loses it.
        Raises WorkspaceGone when a row was to be written to a workspace that is deleted.
        """
        settings = {"app.workspace_id": str(workspace_id)} | ({"app.user_id": str(user_id)} if user_id else {})
        settings |= {} if durable else {"synchronous_commit": "off"}
        async with self._transaction(_opening(settings)) as began:
            yield began.connection

    @asynccontextmanager
    async def snapshot(
        self, workspace_id: UUID, of: str | None = None, settings: Mapping[str, str] | None = None
    ) -> AsyncIterator[Connection]:
        """Opens a read-only `workspace` transaction: every statement sees the state of the first (repeatable read).

        `of` is what `pg_export_snapshot()` gave in another transaction that is still open: the state is that one's.
        `settings` are the server's, for this transaction.
        """
        begin = BEGIN_SNAPSHOT if of is None else f"{BEGIN_SNAPSHOT}; SET TRANSACTION SNAPSHOT {_literal(of)}"
        values = {"app.workspace_id": str(workspace_id), **(settings or {})}
        async with self._transaction(_opening(values, begin)) as began:
            yield began.connection

    @asynccontextmanager
    async def exported_snapshot(
        self, workspace_id: UUID, settings: Mapping[str, str]
    ) -> AsyncIterator[tuple[Connection, str]]:
        """Opens a `snapshot` and returns its name for `snapshot(of=...)`, all in one round trip.

        The savepoint `opened` is what a part of the transaction that fails can go back to.
        """
        values = {"app.workspace_id": str(workspace_id), **settings}
        opening = f"{_opening(values, BEGIN_SNAPSHOT)}, pg_export_snapshot(); SAVEPOINT opened"
        async with self._transaction(opening) as began:
            began.nextset()
            *_, exported = (await began.fetchall())[0]
            yield began.connection, exported

    @asynccontextmanager
    async def system(self) -> AsyncIterator[Connection]:
        """Opens a transaction that sees the work queues of all workspaces (tables under `protect_queue`) alone."""
        async with self._transaction(_opening({"app.scope": "system"})) as began:
            yield began.connection

    @asynccontextmanager
    async def _transaction(self, opening: str) -> AsyncIterator[AsyncCursor[TupleRow]]:
        """Yields what the opening statements returned, on the transaction's connection."""
        try:
            leased = self.pool.connection()
            connection = await leased.__aenter__()
        except PoolTimeout as error:
            raise Unavailable("the database did not give a connection in time") from error
        try:
            yield await connection.execute(opening.encode(), prepare=False)
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


def _opening(settings: Mapping[str, str], begin: str = BEGIN) -> str:
    """Begins a transaction with settings of the server that end with it; more may be selected behind them."""
    each = (f"set_config({_literal(name)}, {_literal(value)}, true)" for name, value in settings.items())
    return f"{begin}; SELECT {', '.join(each)}"


@lru_cache(maxsize=1024)
def _literal(value: str) -> str:
    return sql.Literal(value).as_string()


async def check_unless_silent(connection: AsyncConnection[Any]) -> None:
    """The pool's check of an idle connection, without a round trip for one on which the server has said nothing: when
    it goes away, or ends a session, it says so.
    """
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    if waiting.poll(0):
        await AsyncConnectionPool.check_connection(connection)


def is_workspace_gone(error: BaseException) -> bool:
    """Returns whether PostgreSQL rejected a row because its workspace is deleted."""
    return isinstance(error, DatabaseError) and error.diag.sqlstate == WORKSPACE_GONE
