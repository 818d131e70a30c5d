"""Chooses who answers a read: Neo4j when it is there and shows the latest, else PostgreSQL."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar
from uuid import UUID

from knowledge_graph.errors import StoreUnavailable
from knowledge_graph.store.interface import GraphStore
from knowledge_graph.store.neo4j import Neo4jStore
from knowledge_graph.store.postgres import PostgresStore
from service_kit.postgres import Database

log = logging.getLogger(__name__)
Answer = TypeVar("Answer")
REST_SECONDS = 10.0


class GraphReader:
    """Neo4j that does not answer is left alone for ten seconds."""

    def __init__(self, database: Database, postgres: PostgresStore, neo4j: Neo4jStore | None) -> None:
        self.database, self.postgres, self.neo4j = database, postgres, neo4j
        self.rests_until = 0.0

    async def read(self, workspace_id: UUID, question: Callable[[GraphStore], Awaitable[Answer]]) -> tuple[Answer, str]:
        """The answer, and the name of the store that gave it."""
        if self.neo4j is not None and await self._is_current(workspace_id):
            try:
                return await question(self.neo4j), self.neo4j.name
            except StoreUnavailable as error:
                log.warning("Neo4j does not answer, PostgreSQL does: %s", error)
                self.rests_until = asyncio.get_running_loop().time() + REST_SECONDS
        return await question(self.postgres), self.postgres.name

    async def _is_current(self, workspace_id: UUID) -> bool:
        """While documents wait for the projection Neo4j would not show what was just ingested or deleted."""
        if asyncio.get_running_loop().time() < self.rests_until:
            return False
        async with self.database.workspace(workspace_id) as connection:
            cursor = await connection.execute(
                "SELECT EXISTS (SELECT FROM projection_queue WHERE workspace_id = %s)", (workspace_id,)
            )
            return not (await cursor.fetchone() or (True,))[0]
