"""Reads the graph from its projection in Neo4j."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from knowledge_graph.graph_store import (
    Direction,
    EntityFilter,
    GraphCounts,
    GraphStore,
    Match,
    Measure,
    MentioningChunk,
    Neighbour,
    Ranked,
    Statistics,
    StoredEntity,
    StoredRelation,
)
from knowledge_graph.neo4j.connection import Neo4jConnection
from knowledge_graph.searches.links import Link, Step
from knowledge_graph.searches.searching import Searching, counted
from service_kit.statements import Statements

# Rows are lists, in the order of the fields of their class.
ENTITY = "[e.id, e.name_key, e.name, e.entity_type, e.mentions, e.documents, e.aliases]"
RELATION = "[r.source_id, r.target_id, r.relation_type, r.weight, r.evidence]"


class ReadCypher(Statements, file="reads.cypher", entity=ENTITY, relation=RELATION):
    entities_by_id: str
    list_entities: str
    relations_of: str
    neighbours: str
    links: str
    steps_out: str
    steps_in: str
    successors: str
    relations_among: str
    chunks_of: str
    statistics: str
    counts: str
    top_by_mentions: str
    top_by_documents: str
    top_by_degree: str
    degrees: str


STEPS: dict[Direction, str] = {"out": ReadCypher.steps_out, "in": ReadCypher.steps_in}
RANKED: dict[Measure, str] = {
    "mentions": ReadCypher.top_by_mentions,
    "documents": ReadCypher.top_by_documents,
    "degree": ReadCypher.top_by_degree,
}


class Neo4jStore(Searching):
    """The `GraphStore` over Neo4j. `names` finds entities by name: PostgreSQL has the spellings and their index."""

    name = "neo4j"

    def __init__(self, connection: Neo4jConnection, names: GraphStore) -> None:
        self.connection, self.names = connection, names

    async def entities(self, workspace_id: UUID, ids: Sequence[str]) -> list[StoredEntity]:
        rows = await self.connection.read(ReadCypher.entities_by_id, workspace_id, ids=list(dict.fromkeys(ids)))
        return [StoredEntity(*row) for row in rows]

    async def list_entities(self, workspace_id: UUID, wanted: EntityFilter) -> list[StoredEntity]:
        mentions, last = wanted.after or (None, None)
        rows = await self.connection.read(
            ReadCypher.list_entities,
            workspace_id,
            prefix=wanted.prefix,
            entity_type=wanted.entity_type,
            min_mentions=wanted.min_mentions,
            after_mentions=mentions,
            after_id=last,
            limit=wanted.limit,
        )
        return [StoredEntity(*row) for row in rows]

    async def find(self, workspace_id: UUID, name: str, limit: int) -> list[Match]:
        return await self.names.find(workspace_id, name, limit)

    async def relations_of(self, workspace_id: UUID, entity_id: str, limit: int) -> list[StoredRelation]:
        rows = await self.connection.read(ReadCypher.relations_of, workspace_id, id=entity_id, limit=limit)
        return [StoredRelation(*row) for row in rows]

    async def neighbours(
        self,
        workspace_id: UUID,
        ids: Sequence[str],
        fan_out: int,
        min_mentions: int = 1,
        min_weight: float = 0.0,
        relation_types: Sequence[str] | None = None,
    ) -> list[Neighbour]:
        rows = await self.connection.read(
            ReadCypher.neighbours,
            workspace_id,
            ids=list(ids),
            fan_out=fan_out,
            min_mentions=min_mentions,
            min_weight=min_weight,
            types=_types(relation_types),
        )
        return [Neighbour(*row) for row in rows]

    async def links(self, workspace_id: UUID, ids: Sequence[str], relation_types: Sequence[str] | None) -> list[Link]:
        rows = await self.connection.read(ReadCypher.links, workspace_id, ids=list(ids), types=_types(relation_types))
        return [Link(*row) for row in rows]

    async def steps(
        self,
        workspace_id: UUID,
        ids: Sequence[str],
        direction: Direction,
        relation_types: Sequence[str],
        seen: Sequence[str],
        limit: int,
    ) -> list[Step]:
        values: dict[str, Any] = {"ids": list(ids), "types": list(relation_types), "seen": list(seen), "limit": limit}
        rows = await self.connection.read(STEPS[direction], workspace_id, **values)
        return [Step(*row) for row in rows]

    async def successors(
        self, workspace_id: UUID, entity_id: str, relation_types: Sequence[str], among: Sequence[str]
    ) -> list[str]:
        values: dict[str, Any] = {"id": entity_id, "types": list(relation_types), "among": list(among)}
        return [one for (one,) in await self.connection.read(ReadCypher.successors, workspace_id, **values)]

    async def relations_among(
        self, workspace_id: UUID, ids: Sequence[str], relation_types: Sequence[str] | None, limit: int
    ) -> list[StoredRelation]:
        values: dict[str, Any] = {"ids": list(ids), "types": _types(relation_types), "limit": limit}
        rows = await self.connection.read(ReadCypher.relations_among, workspace_id, **values)
        return [StoredRelation(*row) for row in rows]

    async def chunks_of(self, workspace_id: UUID, ids: Sequence[str], limit: int) -> list[MentioningChunk]:
        rows = await self.connection.read(ReadCypher.chunks_of, workspace_id, ids=list(ids), limit=limit)
        return [MentioningChunk(entity, chunk, UUID(document), mentions) for entity, chunk, document, mentions in rows]

    async def statistics(self, workspace_id: UUID) -> Statistics:
        (row,) = await self.connection.read(ReadCypher.statistics, workspace_id)
        return Statistics(*row)

    async def counts(self, workspace_id: UUID) -> GraphCounts:
        rows = await self.connection.read(ReadCypher.counts, workspace_id)
        return counted([tuple(row) for row in rows])

    async def ranked(
        self, workspace_id: UUID, by: Measure, entity_type: str | None, min_mentions: int, limit: int
    ) -> list[Ranked]:
        values: dict[str, Any] = {"entity_type": entity_type, "min_mentions": min_mentions, "limit": limit}
        rows = await self.connection.read(RANKED[by], workspace_id, **values)
        return [Ranked(StoredEntity(*entity), score) for score, entity in rows]

    async def degrees(self, workspace_id: UUID, ids: Sequence[str]) -> dict[str, tuple[int, int]]:
        rows = await self.connection.read(ReadCypher.degrees, workspace_id, ids=list(ids))
        return {one: (outgoing, incoming) for one, outgoing, incoming in rows}


def _types(relation_types: Sequence[str] | None) -> list[str] | None:
    return None if relation_types is None else list(relation_types)
