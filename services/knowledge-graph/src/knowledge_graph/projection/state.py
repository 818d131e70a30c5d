"""Reads from the tables what a projection should hold."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from uuid import UUID

from knowledge_graph.graph_store import StoredEntity, StoredRelation
from service_kit.postgres import Database
from service_kit.repository import Repository
from service_kit.statements import Statements

PAGE_ROWS, PAGE_DOCUMENTS = 10_000, 200
ENTITY = "id, name_key, name, entity_type, mentions, documents, aliases, outgoing, incoming"
Pair = tuple[str, str]


@dataclass(frozen=True)
class ProjectedEntity(StoredEntity):
    """An entity with its degree."""

    outgoing: int
    incoming: int


@dataclass(frozen=True)
class ProjectedMention:
    entity_id: str
    chunk_id: str
    document_id: str
    mentions: int


@dataclass(frozen=True)
class ProjectedDocument:
    """A document with mentions; imported triples have mentions too, but are not counted as a document."""

    id: str
    is_import: bool


@dataclass
class GraphParts:
    """Parts of a workspace's graph: entities, all relations of pairs, all mentions of documents, and the mentions of
    one entity in one document (document, entity)."""

    entities: set[str] = field(default_factory=set)
    pairs: set[Pair] = field(default_factory=set)
    documents: set[str] = field(default_factory=set)
    mentions: set[Pair] = field(default_factory=set)

    @property
    def single_mentions(self) -> list[Pair]:
        """The mentions outside the documents that are replaced as a whole."""
        return sorted(one for one in self.mentions if one[0] not in self.documents)


@dataclass(frozen=True)
class GraphState:
    """The state of the parts at one moment, including the entities that their relations and mentions need."""

    entities: list[ProjectedEntity] = field(default_factory=list)
    relations: list[StoredRelation] = field(default_factory=list)
    mentions: list[ProjectedMention] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)


class StateSql(Statements, file="state.sql", entity=ENTITY):
    documents: str
    mentions: str
    relations: str
    entities: str
    page_of_documents: str
    page_of_entities: str
    page_of_relations: str


class _GraphRows(Repository):
    async def mentions(self, documents: list[str], single: list[Pair]) -> list[ProjectedMention]:
        return await self.all(
            StateSql.mentions,
            ProjectedMention,
            documents=documents,
            mention_documents=[document for document, _ in single],
            mention_entities=[entity for _, entity in single],
        )


async def read_parts(database: Database, workspace_id: UUID, parts: GraphParts) -> GraphState:
    """Reads the parts from a single snapshot."""
    pairs = sorted(parts.pairs)
    async with database.snapshot(workspace_id) as connection:
        rows = _GraphRows(connection, workspace_id)
        documents = await rows.all(StateSql.documents, ProjectedDocument, documents=sorted(parts.documents))
        mentions = await rows.mentions(sorted(parts.documents), parts.single_mentions)
        ends = {"source_ids": [source for source, _ in pairs], "target_ids": [target for _, target in pairs]}
        relations = await rows.all(StateSql.relations, StoredRelation, **ends)
        needed = {end for one in relations for end in (one.source_id, one.target_id)}
        needed |= {one.entity_id for one in mentions} | parts.entities
        entities = await rows.all(StateSql.entities, ProjectedEntity, ids=sorted(needed))
    return GraphState(entities, relations, mentions, [one.id for one in documents if not one.is_import])


async def read_pages(database: Database, workspace_id: UUID) -> AsyncIterator[GraphState]:
    """Yields the whole workspace: entities, then relations, then documents with their mentions.

    Changes made meanwhile are in the queue and are projected afterwards.
    """
    after = ""
    while entities := await _page_of_entities(database, workspace_id, after):
        yield GraphState(entities=entities)
        after = entities[-1].id
    last = StoredRelation("", "", "", 0.0, 0)
    while relations := await _page_of_relations(database, workspace_id, last):
        yield GraphState(relations=relations)
        last = relations[-1]
    document: UUID | None = None
    while True:
        async with database.snapshot(workspace_id) as connection:
            rows = _GraphRows(connection, workspace_id)
            found = await rows.all(StateSql.page_of_documents, ProjectedDocument, after=document, limit=PAGE_DOCUMENTS)
            mentions = await rows.mentions([one.id for one in found], [])
        if not found:
            return
        yield GraphState(mentions=mentions, documents=[one.id for one in found if not one.is_import])
        document = UUID(found[-1].id)


async def _page_of_entities(database: Database, workspace_id: UUID, after: str) -> list[ProjectedEntity]:
    async with database.workspace(workspace_id) as connection:
        rows = _GraphRows(connection, workspace_id)
        return await rows.all(StateSql.page_of_entities, ProjectedEntity, after=after, limit=PAGE_ROWS)


async def _page_of_relations(database: Database, workspace_id: UUID, last: StoredRelation) -> list[StoredRelation]:
    after = {"source_id": last.source_id, "target_id": last.target_id, "relation_type": last.relation_type}
    async with database.workspace(workspace_id) as connection:
        rows = _GraphRows(connection, workspace_id)
        return await rows.all(StateSql.page_of_relations, StoredRelation, **after, limit=PAGE_ROWS)
