"""The connection to Neo4j: waits are bounded, failures are raised as `StoreUnavailable`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from uuid import UUID

from neo4j import AsyncGraphDatabase, AsyncManagedTransaction, Query, RoutingControl
from neo4j.exceptions import DriverError, Neo4jError

from knowledge_graph.errors import StoreUnavailable
from knowledge_graph.settings import Neo4jSettings
from service_kit.tracing import store_call

Result = TypeVar("Result")
READ_SECONDS, WRITE_SECONDS = 5.0, 120.0


class Neo4jConnection:
    """Runs statements. All methods raise StoreUnavailable."""

    def __init__(self, settings: Neo4jSettings) -> None:
        assert settings.neo4j_url is not None
        self.driver = AsyncGraphDatabase.driver(
            settings.neo4j_url,
            auth=(settings.neo4j_user, settings.neo4j_password.get_secret_value()),
            connection_timeout=3,
            connection_acquisition_timeout=5,
            max_transaction_retry_time=3,
            notifications_min_severity="OFF",
        )

    async def aclose(self) -> None:
        await self.driver.close()

    async def read(self, cypher: str, workspace_id: UUID, **values: Any) -> list[Any]:
        """Returns the rows of a statement, which gets the parameter `$workspace_id`.

        They are the list `rows` of its only record: the driver takes far longer for a record than for a row in a list.
        """
        query = Query(cypher, timeout=READ_SECONDS)
        parameters = {"workspace_id": str(workspace_id), **values}
        async with self._translated():
            result = await self.driver.execute_query(query, parameters, routing_=RoutingControl.READ)
        rows: list[Any] = result.records[0]["rows"]
        return rows

    async def write(self, work: Callable[[AsyncManagedTransaction], Awaitable[Result]]) -> Result:
        """Runs `work` in one transaction, and retries it after a transient error."""
        async with self._translated(), self.driver.session() as session:
            return await session.execute_write(work)

    async def statement(self, cypher: str, **values: Any) -> list[dict[str, Any]]:
        """Runs one statement in its own transaction, without a workspace."""
        async with self._translated():
            result = await self.driver.execute_query(Query(cypher, timeout=WRITE_SECONDS), values)
        return [record.data() for record in result.records]

    @asynccontextmanager
    async def _translated(self) -> AsyncIterator[None]:
        try:
            with store_call("neo4j transaction"):
                yield
        except (Neo4jError, DriverError, OSError) as error:
            raise StoreUnavailable(f"{type(error).__name__}: {error}"[:300]) from error
