"""Chooses which store answers a read: the projection if it is up to date, else PostgreSQL."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar
from uuid import UUID

from knowledge_graph.errors import StoreUnavailable
from knowledge_graph.graph_store import GraphStore
from knowledge_graph.store.postgres import PostgresStore

log = logging.getLogger(__name__)
Result = TypeVar("Result")
REST_SECONDS = 10.0


class GraphReader:
    """Reads from the projection if there is one; a projection that does not respond is skipped for ten seconds."""

    def __init__(self, postgres: PostgresStore, projection: GraphStore | None) -> None:
        self.postgres, self.projection = postgres, projection
        self.rests_until = 0.0

    async def read(self, workspace_id: UUID, question: Callable[[GraphStore], Awaitable[Result]]) -> tuple[Result, str]:
        """Returns the answer, read from a single version of the graph, and the name of the store that gave it."""
        version = await self._version(workspace_id)
        if self.projection is not None and version is not None:
            try:
                answer = await question(self.projection)
                if await self._version(workspace_id) == version:
                    return answer, self.projection.name
            except StoreUnavailable as error:
                log.warning("the projection does not answer; PostgreSQL answers instead: %s", error)
                self.rests_until = asyncio.get_running_loop().time() + REST_SECONDS
            except Exception:
                # A change that was projected meanwhile may explain it.
                if await self._version(workspace_id) == version:
                    raise
        return await question(self.postgres), self.postgres.name

    async def _version(self, workspace_id: UUID) -> int | None:
        """Returns the projected version; None while the projection is not up to date or does not respond."""
        if self.projection is None or asyncio.get_running_loop().time() < self.rests_until:
            return None
        return await self.postgres.projected_version(workspace_id)
