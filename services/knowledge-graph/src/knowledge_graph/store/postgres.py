"""Reads the graph from the tables in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar
from uuid import UUID

from knowledge_graph.extraction.names import entity_id, name_key
from knowledge_graph.graph_store import (
    Direction,
    EntityFilter,
    GraphCounts,
    Match,
    Measure,
    MentioningChunk,
    Neighbour,
    Ranked,
    Statistics,
    StoredEntity,
    StoredEvidence,
    StoredRelation,
    StoredStatement,
)
from knowledge_graph.searches.links import Link, Step
from knowledge_graph.searches.searching import Searching, counted
from service_kit.postgres import Database
from service_kit.repository import Repository
from service_kit.statements import Statements

Row = TypeVar("Row")
LAST_CHARACTER = "\U0010ffff"
ENTITY = (
    "entity.id, entity.name_key, entity.name, entity.entity_type, entity.mentions, entity.documents, entity.aliases"
)
RELATION = "source_id, target_id, relation_type, weight, evidence"


class GraphSql(Statements, file="graph.sql", entity=ENTITY, relation=RELATION):
    entities: str
    list_entities: str
    find_entities: str
    find_similar: str
    evidence: str
    not_current: str
    neighbours: str
    links: str
    steps: str
    successors: str
    relations_among: str
    relations_of: str
    chunks_of: str
    statistics: str
    counts: str
    top_by_degree: str
    top_by_documents: str
    top_by_mentions: str
    degrees: str
    list_documents: str
    projected_version: str


RANKED: dict[Measure, str] = {
    "mentions": GraphSql.top_by_mentions,
    "documents": GraphSql.top_by_documents,
    "degree": GraphSql.top_by_degree,
}


@dataclass(frozen=True)
class StoredDocument:
    """A graphed document; `queued` means its latest change is not projected yet."""

    document_id: UUID
    version: int
    mentions: int
    queued: bool


@dataclass(frozen=True)
class _Matched(StoredEntity):
    how: Literal["exact", "alias", "prefix", "fuzzy"]
    similarity: float


@dataclass(frozen=True)
class _Scored(StoredEntity):
    score: float


class PostgresStore(Searching):
    """The `GraphStore` over PostgreSQL. Statements are cancelled after `statement_milliseconds`."""

    name = "postgres"

    def __init__(self, database: Database, statement_milliseconds: int = 5_000) -> None:
        self.database, self.statement_milliseconds = database, statement_milliseconds

    async def entities(self, workspace_id: UUID, ids: Sequence[str]) -> list[StoredEntity]:
        return await self._all(GraphSql.entities, StoredEntity, workspace_id, ids=list(ids))

    async def list_entities(self, workspace_id: UUID, wanted: EntityFilter) -> list[StoredEntity]:
        mentions, last = wanted.after or (None, None)
        return await self._all(
            GraphSql.list_entities,
            StoredEntity,
            workspace_id,
            prefix=wanted.prefix,
            after_prefix=None if wanted.prefix is None else wanted.prefix + LAST_CHARACTER,
            entity_type=wanted.entity_type,
            min_mentions=wanted.min_mentions,
            after_mentions=mentions,
            after_id=last,
            limit=wanted.limit,
        )

    async def find(self, workspace_id: UUID, name: str, limit: int) -> list[Match]:
        key = name_key(name)
        if not key:
            return []
        values = {"id": entity_id(key), "key": key, "after_prefix": key + LAST_CHARACTER, "limit": limit}
        found = await self._all(GraphSql.find_entities, _Matched, workspace_id, **values)
        found = found or await self._all(GraphSql.find_similar, _Matched, workspace_id, key=key, limit=limit)
        return [Match(_entity(one), one.how, round(one.similarity, 4)) for one in found]

    async def relations_of(self, workspace_id: UUID, entity_id: str, limit: int) -> list[StoredRelation]:
        return await self._all(GraphSql.relations_of, StoredRelation, workspace_id, id=entity_id, limit=limit)

    async def evidence(
        self, workspace_id: UUID, source_id: str, target_id: str, relation_type: str, limit: int
    ) -> list[StoredEvidence]:
        """Returns the places that state the relation, most certain first. Not part of `GraphStore`."""
        ends = {"source_id": source_id, "target_id": target_id, "relation_type": relation_type}
        return await self._all(GraphSql.evidence, StoredEvidence, workspace_id, **ends, limit=limit)

    async def not_current(
        self, workspace_id: UUID, ids: Sequence[str], relation_types: Sequence[str] | None, limit: int
    ) -> list[StoredStatement]:
        """Returns statements of what was, is planned or is denied. Not part of `GraphStore`."""
        values = {"ids": list(ids), "types": _types(relation_types), "limit": limit}
        return await self._all(GraphSql.not_current, StoredStatement, workspace_id, **values)

    async def neighbours(
        self,
        workspace_id: UUID,
        ids: Sequence[str],
        fan_out: int,
        min_mentions: int = 1,
        min_weight: float = 0.0,
        relation_types: Sequence[str] | None = None,
    ) -> list[Neighbour]:
        return await self._all(
            GraphSql.neighbours,
            Neighbour,
            workspace_id,
            ids=list(ids),
            fan_out=fan_out,
            min_mentions=min_mentions,
            min_weight=min_weight,
            types=_types(relation_types),
        )

    async def links(self, workspace_id: UUID, ids: Sequence[str], relation_types: Sequence[str] | None) -> list[Link]:
        types = _types(relation_types)
        return await self._all(GraphSql.links, Link, workspace_id, ids=list(ids), types=types)

    async def steps(
        self,
        workspace_id: UUID,
        ids: Sequence[str],
        direction: Direction,
        relation_types: Sequence[str],
        seen: Sequence[str],
        limit: int,
    ) -> list[Step]:
        return await self._all(
            GraphSql.steps,
            Step,
            workspace_id,
            ids=list(ids),
            outwards=direction == "out",
            types=list(relation_types),
            seen=list(seen),
            limit=limit,
        )

    async def successors(
        self, workspace_id: UUID, entity_id: str, relation_types: Sequence[str], among: Sequence[str]
    ) -> list[str]:
        values = {"id": entity_id, "types": list(relation_types), "among": list(among)}
        return [row.id for row in await self._all(GraphSql.successors, _Id, workspace_id, **values)]

    async def relations_among(
        self, workspace_id: UUID, ids: Sequence[str], relation_types: Sequence[str] | None, limit: int
    ) -> list[StoredRelation]:
        values = {"ids": list(ids), "types": _types(relation_types), "limit": limit}
        return await self._all(GraphSql.relations_among, StoredRelation, workspace_id, **values)

    async def chunks_of(self, workspace_id: UUID, ids: Sequence[str], limit: int) -> list[MentioningChunk]:
        return await self._all(GraphSql.chunks_of, MentioningChunk, workspace_id, ids=list(ids), limit=limit)

    async def statistics(self, workspace_id: UUID) -> Statistics:
        (row,) = await self._all(GraphSql.statistics, Statistics, workspace_id)
        return row

    async def counts(self, workspace_id: UUID) -> GraphCounts:
        rows = await self._all(GraphSql.counts, _Counted, workspace_id)
        return counted([(row.counted, row.kind, row.number, row.mentions) for row in rows])

    async def ranked(
        self, workspace_id: UUID, by: Measure, entity_type: str | None, min_mentions: int, limit: int
    ) -> list[Ranked]:
        values = {"entity_type": entity_type, "min_mentions": min_mentions, "limit": limit}
        found = await self._all(RANKED[by], _Scored, workspace_id, **values)
        return [Ranked(_entity(one), one.score) for one in found]

    async def degrees(self, workspace_id: UUID, ids: Sequence[str]) -> dict[str, tuple[int, int]]:
        rows = await self._all(GraphSql.degrees, _Degree, workspace_id, ids=list(ids))
        return {row.id: (row.outgoing, row.incoming) for row in rows}

    async def documents(self, workspace_id: UUID, after: UUID | None, limit: int) -> list[StoredDocument]:
        """Returns documents by id. Not part of `GraphStore`."""
        return await self._all(GraphSql.list_documents, StoredDocument, workspace_id, after=after, limit=limit)

    async def projected_version(self, workspace_id: UUID) -> int | None:
        """Returns a number that grows with each projected change; None while a change waits to be projected."""
        async with self.database.workspace(workspace_id) as connection:
            version = await Repository(connection, workspace_id).value(GraphSql.projected_version)
        return None if version is None else int(version)

    async def _all(self, sql: str, row: type[Row], workspace_id: UUID, **values: object) -> list[Row]:
        timeout = {"statement_timeout": str(self.statement_milliseconds)}
        async with self.database.snapshot(workspace_id, settings=timeout) as connection:
            return await Repository(connection, workspace_id).all(sql, row, **values)


@dataclass(frozen=True)
class _Id:
    id: str


@dataclass(frozen=True)
class _Counted:
    counted: str
    kind: str
    number: int
    mentions: int


@dataclass(frozen=True)
class _Degree:
    id: str
    outgoing: int
    incoming: int


def _types(relation_types: Sequence[str] | None) -> list[str] | None:
    return None if relation_types is None else list(relation_types)


def _entity(one: StoredEntity) -> StoredEntity:
    return StoredEntity(one.id, one.name_key, one.name, one.entity_type, one.mentions, one.documents, one.aliases)
