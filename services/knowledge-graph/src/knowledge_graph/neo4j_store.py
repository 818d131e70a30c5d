"""The graph as Neo4j shows it."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from knowledge_graph.graph_store import (
    EntityFilter,
    MentioningChunk,
    Neighbour,
    Statistics,
    StoredEntity,
    StoredRelation,
)
from knowledge_graph.neo4j_connection import Neo4jConnection


class Neo4jStore:
    """A `GraphStore`."""

    name = "neo4j"

    def __init__(self, connection: Neo4jConnection) -> None:
        self.connection = connection

    async def entities(self, workspace_id: UUID, ids: Sequence[str]) -> list[StoredEntity]:
        rows = await self.connection.read("entities_by_id", workspace_id, ids=list(ids))
        return [StoredEntity(**row) for row in rows]

    async def list_entities(self, workspace_id: UUID, wanted: EntityFilter) -> list[StoredEntity]:
        mentions, last = wanted.after or (None, None)
        rows = await self.connection.read(
            "list_entities",
            workspace_id,
            prefix=wanted.prefix,
            entity_type=wanted.entity_type,
            after_mentions=mentions,
            after_id=last,
            limit=wanted.limit,
        )
        return [StoredEntity(**row) for row in rows]

    async def relations_of(self, workspace_id: UUID, entity_id: str, limit: int) -> list[StoredRelation]:
        rows = await self.connection.read("relations_of", workspace_id, id=entity_id, limit=limit)
        return [StoredRelation(**row) for row in rows]

    async def neighbours(self, workspace_id: UUID, ids: Sequence[str], fan_out: int) -> list[Neighbour]:
        rows = await self.connection.read("neighbours", workspace_id, ids=list(ids), fan_out=fan_out)
        return [Neighbour(**row) for row in rows]

    async def chunks_of(self, workspace_id: UUID, ids: Sequence[str], limit: int) -> list[MentioningChunk]:
        rows = await self.connection.read("chunks_of", workspace_id, ids=list(ids), limit=limit)
        return [
            MentioningChunk(row["entity_id"], row["chunk_id"], UUID(row["document_id"]), row["mentions"])
            for row in rows
        ]

    async def statistics(self, workspace_id: UUID) -> Statistics:
        (row,) = await self.connection.read("statistics", workspace_id)
        return Statistics(**row)
