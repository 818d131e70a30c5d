"""Chooses who answers a read: Neo4j when it is there and shows the latest, else PostgreSQL."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar
from uuid import UUID

from knowledge_graph.errors import StoreUnavailable
from knowledge_graph.graph_store import GraphStore
from knowledge_graph.neo4j.store import Neo4jStore
from knowledge_graph.store.postgres import QUERIES, PostgresStore
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
        """The answer, and the name of the store that gave it: all of it of one picture."""
        picture = await self._picture(workspace_id)
        if self.neo4j is not None and picture is not None:
            try:
                answer = await question(self.neo4j)
                if await self._picture(workspace_id) == picture:
                    return answer, self.neo4j.name
            except StoreUnavailable as error:
                log.warning("Neo4j does not answer, PostgreSQL does: %s", error)
                self.rests_until = asyncio.get_running_loop().time() + REST_SECONDS
            except Exception:
                # What was being drawn meanwhile may have been missed.
                if await self._picture(workspace_id) == picture:
                    raise
        return await question(self.postgres), self.postgres.name

    async def _picture(self, workspace_id: UUID) -> int | None:
        """The number of the picture that Neo4j shows; None while it does not show what was just ingested or deleted, or
        is drawn anew."""
        if self.neo4j is None or asyncio.get_running_loop().time() < self.rests_until:
            return None
        async with self.database.workspace(workspace_id) as connection:
            cursor = await connection.execute(QUERIES["shown_picture"], {"workspace_id": workspace_id})
            row = await cursor.fetchone()
        return None if row is None else int(row[0])
