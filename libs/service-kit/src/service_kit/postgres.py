"""One bounded pool per process; row-level security limits each transaction to one workspace."""

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
from service_kit.tracing import store_call

Connection = AsyncConnection[TupleRow]
POOL_TIMEOUT_SECONDS = 10.0
# A server that has vanished without a word is noticed within some 15 s, whether it owes an acknowledgement or is only
# listened to; the limits of the system are 15 minutes and two hours.
PATIENCE: Mapping[str, Any] = {
    "connect_timeout": 5,
    "tcp_user_timeout": 10_000,  # milliseconds
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 2,
}
WORKSPACE_GONE = "WS404"
NOT_DURABLE = {"synchronous_commit": "off"}
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
            # Transactions are opened in this module, in one round trip with their first statements. Nothing is set for
            # a whole session, which PgBouncer would not keep: `migrate` sets the role's statement_timeout.
            kwargs={**PATIENCE, "autocommit": True, **connect},
        )

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Database]:
        """Opens the pool for the block, and closes it with all its connections at the end."""
        async with self.pool:
            yield self

    @asynccontextmanager
    async def workspace(
        self, workspace_id: UUID, *, user_id: UUID | None = None, durable: bool = True
    ) -> AsyncIterator[Connection]:
        """Opens a transaction that sees only this workspace's rows. Raises Unavailable if no connection is free.

        With `user_id`, it does not see rows of other users either, in tables that record the user.
        Unless it is `durable`, its commit does not wait for the disk: the next durable commit, of any session, also
        persists it, and only a crash of PostgreSQL before that loses it.
        Raises WorkspaceGone if a row is written to a deleted workspace.
        """
        settings = {"app.workspace_id": str(workspace_id)} | ({"app.user_id": str(user_id)} if user_id else {})
        settings |= {} if durable else NOT_DURABLE
        async with self._transaction(opening(settings)) as began:
            yield began.connection

    @asynccontextmanager
    async def snapshot(
        self, workspace_id: UUID, of: str | None = None, settings: Mapping[str, str] | None = None
    ) -> AsyncIterator[Connection]:
        """Opens a read-only `workspace` transaction: every statement sees the state of the first (repeatable read).

        `of` is the result of `pg_export_snapshot()` in another transaction that is still open, whose state is used.
        `settings` are server settings for this transaction.
        """
        begin = BEGIN_SNAPSHOT if of is None else f"{BEGIN_SNAPSHOT}; SET TRANSACTION SNAPSHOT {_literal(of)}"
        values = {"app.workspace_id": str(workspace_id), **(settings or {})}
        async with self._transaction(opening(values, begin)) as began:
            yield began.connection

    @asynccontextmanager
    async def snapshot_with(
        self, workspace_id: UUID, settings: Mapping[str, str], first: str, values: Mapping[str, object]
    ) -> AsyncIterator[tuple[Connection, dict[str, Any]]]:
        """Opens a `snapshot` and returns the row of its `first` statement, all in one round trip.

        A part of the transaction that fails can roll back to the savepoint `opened`.
        """
        opened = opening({"app.workspace_id": str(workspace_id), **settings}, BEGIN_SNAPSHOT)
        literal = first % {name: _literal(value) for name, value in values.items()}
        async with self._transaction(f"{opened}; {literal}; SAVEPOINT opened") as began:
            began.nextset()
            began.nextset()
            columns = [column.name for column in began.description or ()]
            yield began.connection, dict(zip(columns, (await began.fetchall())[0], strict=True))

    @asynccontextmanager
    async def system(self, *, durable: bool = True) -> AsyncIterator[Connection]:
        """Opens a transaction that sees only the work queues (tables under `protect_queue`), of all workspaces.

        `durable` as in `workspace`.
        """
        settings = {"app.scope": "system"} | ({} if durable else NOT_DURABLE)
        async with self._transaction(opening(settings)) as began:
            yield began.connection

    @asynccontextmanager
    async def _transaction(self, begin: str) -> AsyncIterator[AsyncCursor[TupleRow]]:
        """Yields what the opening statements returned, on the transaction's connection."""
        with store_call("postgresql transaction"):
            async with self._begun(begin) as began:
                yield began

    @asynccontextmanager
    async def _begun(self, begin: str) -> AsyncIterator[AsyncCursor[TupleRow]]:
        try:
            leased = self.pool.connection()
            connection = await leased.__aenter__()
        except PoolTimeout as error:
            raise Unavailable("the database did not give a connection in time") from error
        try:
            yield await connection.execute(begin.encode(), prepare=False)
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


def opening(settings: Mapping[str, str], begin: str = BEGIN) -> str:
    """Returns SQL that begins a transaction with server settings limited to it; further columns may be appended."""
    each = (f"set_config({_literal(name)}, {_literal(value)}, true)" for name, value in settings.items())
    return f"{begin}; SELECT {', '.join(each)}"


@lru_cache(maxsize=1024)
def _literal(value: object) -> str:
    return sql.Literal(value).as_string()


async def check_unless_silent(connection: AsyncConnection[Any]) -> None:
    """Checks an idle connection for the pool, without a round trip if the server has sent nothing: it sends something
    when it goes away or ends a session.
    """
    if has_spoken(connection.fileno()):
        await AsyncConnectionPool.check_connection(connection)


def has_spoken(descriptor: int) -> bool:
    """Returns whether the server has sent something on an idle connection."""
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(0))


def is_workspace_gone(error: BaseException) -> bool:
    """Returns whether PostgreSQL rejected a row because its workspace is deleted."""
    return isinstance(error, DatabaseError) and error.diag.sqlstate == WORKSPACE_GONE
