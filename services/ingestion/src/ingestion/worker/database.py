"""The synchronous connection pool of a worker's threads, with the same row-level security as in the API."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool

from service_kit.postgres import PATIENCE, POOL_TIMEOUT_SECONDS, has_spoken, opening


class WorkerDatabase:
    """Opens transactions: a block of `workspace` or `system` commits at its end and rolls back on an error."""

    def __init__(self, url: str, size: int) -> None:
        self.pool: ConnectionPool[Connection[TupleRow]] = ConnectionPool(
            url,
            min_size=1,
            max_size=size,
            timeout=POOL_TIMEOUT_SECONDS,
            open=False,
            check=_check_unless_silent,
            # Transactions are opened here, in one round trip with their settings.
            kwargs={**PATIENCE, "autocommit": True},
        )

    @contextmanager
    def opened(self) -> Iterator[WorkerDatabase]:
        with self.pool:
            yield self

    @contextmanager
    def workspace(self, workspace_id: UUID) -> Iterator[Connection[TupleRow]]:
        """Opens a transaction that sees this workspace's rows. Raises PoolTimeout, psycopg.OperationalError."""
        with self._transaction("app.workspace_id", str(workspace_id)) as connection:
            yield connection

    @contextmanager
    def system(self) -> Iterator[Connection[TupleRow]]:
        """Opens a transaction that sees workers and the queues of all workspaces. Raises as `workspace` does."""
        with self._transaction("app.scope", "system") as connection:
            yield connection

    @contextmanager
    def _transaction(self, setting: str, value: str) -> Iterator[Connection[TupleRow]]:
        with self.pool.connection() as connection:
            connection.execute(opening({setting: value}).encode(), prepare=False)
            yield connection


def _check_unless_silent(connection: Connection[TupleRow]) -> None:
    """Checks an idle connection for the pool, as `service_kit.postgres.check_unless_silent` does."""
    if has_spoken(connection.fileno()):
        ConnectionPool.check_connection(connection)
