"""Chooses which store answers a read: the faster one, or PostgreSQL if that is not possible now."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Literal, TypeVar
from uuid import UUID

from prometheus_client import CollectorRegistry

from knowledge_graph.errors import StoreUnavailable
from knowledge_graph.graph_store import GraphStore
from knowledge_graph.store.postgres import PostgresStore
from service_kit.readings import counter

log = logging.getLogger(__name__)
Result = TypeVar("Result")
REST_SECONDS = 10.0

FASTER: Mapping[str, Literal["postgres", "neo4j"]] = {
    "entities": "postgres",
    "entity": "postgres",
    "hops": "postgres",
    "subgraph": "postgres",
    "counts": "postgres",
    "lookup_facts": "postgres",
    "summarize_document": "postgres",
    "run_calculation": "postgres",
    "analyze_dependencies": "postgres",
    "shortest_path": "postgres",
    "neighbours": "postgres",
    "answer_question": "postgres",
}
"""The store that is faster at each read, by the figures in docs/figures.md ("Searches").

Bridges, exports and lists of documents are not among them: only PostgreSQL has the provenance."""

REASONS = ("behind", "changed", "unavailable")


class GraphReader:
    """Reads from the faster store. PostgreSQL replaces a projection that is behind or being rebuilt, or that changes
    during the read; one that does not respond for ten seconds.
    """

    def __init__(
        self,
        postgres: PostgresStore,
        projection: GraphStore | None,
        registry: CollectorRegistry | None = None,
        faster: Mapping[str, str] = FASTER,
    ) -> None:
        self.postgres, self.projection, self.faster = postgres, projection, faster
        self.rests_until = 0.0
        self.replaced = counter(
            "attractor_graph_reads_replaced_total",
            "Reads that PostgreSQL answered because the projection was behind, had changed or was unavailable",
            registry,
            reason=REASONS,
        )

    async def read(
        self, workspace_id: UUID, what: str, question: Callable[[GraphStore], Awaitable[Result]]
    ) -> tuple[Result, str]:
        """Returns the answer, read from a single version of the graph, and the name of the store that gave it."""
        if self.projection is not None and self.faster[what] == self.projection.name:
            return await self._from(self.projection, workspace_id, question)
        return await question(self.postgres), self.postgres.name

    async def current(self, workspace_id: UUID) -> str:
        """Returns the projection's name if it is up to date and responds, else PostgreSQL's."""
        if self.projection is None:
            return self.postgres.name
        _, name = await self._from(self.projection, workspace_id, lambda store: store.entities(workspace_id, []))
        return name

    async def _from(
        self, projection: GraphStore, workspace_id: UUID, question: Callable[[GraphStore], Awaitable[Result]]
    ) -> tuple[Result, str]:
        reason = "unavailable"
        if asyncio.get_running_loop().time() >= self.rests_until:
            version = await self.postgres.projected_version(workspace_id)
            reason = "behind" if version is None else "changed"
            try:
                if version is not None:
                    answer = await question(projection)
                    if await self.postgres.projected_version(workspace_id) == version:
                        return answer, projection.name
            except StoreUnavailable as error:
                log.warning("the projection does not answer; PostgreSQL answers instead: %s", error)
                self.rests_until = asyncio.get_running_loop().time() + REST_SECONDS
                reason = "unavailable"
            except Exception:
                # A change that was projected meanwhile may explain it.
                if await self.postgres.projected_version(workspace_id) == version:
                    raise
        self.replaced.labels(reason).inc()
        return await question(self.postgres), self.postgres.name
