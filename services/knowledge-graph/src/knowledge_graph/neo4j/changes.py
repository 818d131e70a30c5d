"""What Neo4j is to show: read from PostgreSQL, drawn in one Neo4j transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar
from uuid import UUID

from neo4j import AsyncManagedTransaction
from psycopg.rows import class_row

from knowledge_graph.graph_store import StoredEntity, StoredRelation
from knowledge_graph.neo4j.connection import CYPHER
from knowledge_graph.store.postgres import QUERIES
from service_kit.postgres import Connection, Database

Row = TypeVar("Row")
Pair = tuple[str, str]


@dataclass(frozen=True)
class ShownEntity(StoredEntity):
    """With its degree."""

    outgoing: int
    incoming: int


@dataclass(frozen=True)
class ShownMention:
    entity_id: str
    chunk_id: str
    document_id: str
    mentions: int


@dataclass(frozen=True)
class ShownDocument:
    """A set of triples has mentions as a document has them, and is none."""

    id: str
    is_import: bool


@dataclass
class Parts:
    """What of a workspace is to be drawn anew: entities, all relations of pairs, all mentions of documents, and those
    of one entity in a document (document, entity)."""

    entities: set[str] = field(default_factory=set)
    pairs: set[Pair] = field(default_factory=set)
    documents: set[str] = field(default_factory=set)
    mentions: set[Pair] = field(default_factory=set)


@dataclass(frozen=True)
class Picture:
    """The present state of the parts, as of one moment; with the entities that its relations and mentions need."""

    entities: list[ShownEntity]
    relations: list[StoredRelation]
    mentions: list[ShownMention]
    documents: list[str]


async def rows(connection: Connection, row: type[Row], query: str, **values: Any) -> list[Row]:
    """Of sql/<query>.sql."""
    async with connection.cursor(row_factory=class_row(row)) as cursor:
        return await (await cursor.execute(QUERIES[query], values)).fetchall()


async def take(database: Database, workspace_id: UUID, parts: Parts) -> Picture:
    """Reads the parts."""
    parted = sorted(one for one in parts.mentions if one[0] not in parts.documents)
    pairs = sorted(parts.pairs)
    async with database.snapshot(workspace_id) as connection:

        async def read(row: type[Row], query: str, **values: Any) -> list[Row]:
            return await rows(connection, row, query, workspace_id=workspace_id, **values)

        documents = await read(ShownDocument, "shown_documents", documents=sorted(parts.documents))
        mentions = await read(
            ShownMention,
            "shown_mentions",
            documents=sorted(parts.documents),
            mention_documents=[document for document, _ in parted],
            mention_entities=[entity for _, entity in parted],
        )
        ends = {"source_ids": [source for source, _ in pairs], "target_ids": [target for _, target in pairs]}
        relations = await read(StoredRelation, "shown_relations", **ends)
        needed = {end for one in relations for end in (one.source_id, one.target_id)}
        needed |= {one.entity_id for one in mentions} | parts.entities
        entities = await read(ShownEntity, "shown_entities", ids=sorted(needed))
    return Picture(entities, relations, mentions, [one.id for one in documents if not one.is_import])


async def draw(transaction: AsyncManagedTransaction, workspace_id: UUID, parts: Parts, picture: Picture) -> None:
    """Takes away what the parts showed, and puts what they are."""
    shown = {entity.id for entity in picture.entities}
    parted = sorted(one for one in parts.mentions if one[0] not in parts.documents)
    await _run(transaction, workspace_id, "remove_relations", pairs=[list(pair) for pair in sorted(parts.pairs)])
    await _run(transaction, workspace_id, "remove_mentions", mentions=[list(one) for one in parted])
    await _run(transaction, workspace_id, "remove_chunks", documents=sorted(parts.documents))
    await _run(transaction, workspace_id, "remove_entities", ids=sorted(parts.entities - shown))
    gone = parts.documents - set(picture.documents)
    await _run(transaction, workspace_id, "remove_documents", documents=sorted(gone))
    await add(transaction, workspace_id, picture)
    await _run(transaction, workspace_id, "remove_bare_chunks", documents=sorted({one for one, _ in parted}))


async def add(transaction: AsyncManagedTransaction, workspace_id: UUID, picture: Picture) -> None:
    """Puts what is not there."""
    await _run(transaction, workspace_id, "write_entities", rows=_plain(picture.entities))
    await _run(transaction, workspace_id, "write_relations", rows=_plain(picture.relations))
    await _run(transaction, workspace_id, "write_chunks", rows=_plain(picture.mentions))
    await _run(transaction, workspace_id, "write_documents", documents=picture.documents)


def _plain(found: Sequence[ShownEntity | StoredRelation | ShownMention]) -> list[dict[str, Any]]:
    return [asdict(one) for one in found]


async def _run(transaction: AsyncManagedTransaction, workspace_id: UUID, name: str, **values: list[Any]) -> None:
    if any(values.values()):
        result = await transaction.run(CYPHER[name], {"workspace_id": str(workspace_id), **values})
        await result.consume()
