"""Neo4j as this service uses it: bounded waits, its failures as `StoreUnavailable`, statements from .cypher files."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib import resources
from typing import Any, LiteralString, TypeVar
from uuid import UUID

from neo4j import AsyncGraphDatabase, AsyncManagedTransaction, Query, RoutingControl
from neo4j.exceptions import DriverError, Neo4jError

from knowledge_graph.errors import StoreUnavailable
from knowledge_graph.settings import Neo4jSettings

Result = TypeVar("Result")
READ_SECONDS, WRITE_SECONDS = 5.0, 120.0


def load_cypher() -> dict[str, LiteralString]:
    """The statements of the `cypher` folder, by file name."""
    folder = resources.files(__package__).joinpath("cypher")
    return {file.name.removesuffix(".cypher"): file.read_text(encoding="utf-8") for file in folder.iterdir()}


CYPHER = load_cypher()


class Neo4jConnection:
    """Every statement gets `$workspace_id`. All methods raise StoreUnavailable."""

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

    async def read(self, name: str, workspace_id: UUID, **values: Any) -> list[dict[str, Any]]:
        """The rows of cypher/<name>.cypher."""
        query = Query(CYPHER[name], timeout=READ_SECONDS)
        parameters = {"workspace_id": str(workspace_id), **values}
        async with self._translated():
            result = await self.driver.execute_query(query, parameters, routing_=RoutingControl.READ)
        return [record.data() for record in result.records]

    async def write(self, work: Callable[[AsyncManagedTransaction], Awaitable[Result]]) -> Result:
        """One transaction; `work` may run again when a transient error made it fail."""
        async with self._translated(), self.driver.session() as session:
            return await session.execute_write(work)

    async def statement(self, text: LiteralString, **values: Any) -> list[dict[str, Any]]:
        """One statement of its own, without a workspace: schema and maintenance."""
        async with self._translated():
            result = await self.driver.execute_query(Query(text, timeout=WRITE_SECONDS), values)
        return [record.data() for record in result.records]

    @asynccontextmanager
    async def _translated(self) -> AsyncIterator[None]:
        try:
            yield
        except (Neo4jError, DriverError, OSError) as error:
            raise StoreUnavailable(f"{type(error).__name__}: {error}"[:300]) from error
