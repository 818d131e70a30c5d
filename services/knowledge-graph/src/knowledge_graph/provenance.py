"""Writes the truth: a document's mentions and evidence, and the sums over them. The caller opens the transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from knowledge_graph.extraction.records import Extraction
from knowledge_graph.postgres_store import QUERIES
from service_kit.postgres import Connection


@dataclass(frozen=True)
class MadeFrom:
    """All that a document's graph depends on; `chunks_digest` is the SHA-256 of the object `chunks_key`."""

    version: int
    name: str
    title: str | None
    chunks_key: str
    chunks_digest: str


@dataclass(frozen=True)
class Known(MadeFrom):
    """What the graph of a document was made from, and what it holds."""

    entities: int
    relations: int

    def is_made_from(self, source: MadeFrom) -> bool:
        """Whether extracting it again would give what is there."""
        return all(getattr(self, field.name) == getattr(source, field.name) for field in fields(MadeFrom))


@dataclass(frozen=True)
class Graphed:
    """What is to be recorded of a document."""

    document_id: UUID
    source: MadeFrom
    chunks: int
    extraction: Extraction

    @property
    def entities(self) -> int:
        return len({mention.entity_id for mention in self.extraction.mentions})

    @property
    def relations(self) -> int:
        return len({(one.source_id, one.target_id, one.relation_type) for one in self.extraction.relations})

    @property
    def known(self) -> Known:
        return Known(**asdict(self.source), entities=self.entities, relations=self.relations)


async def lock(connection: Connection, workspace_id: UUID) -> None:
    """Writers of one workspace take turns: sums stay exact, and shared entities cannot deadlock."""
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"graph/{workspace_id}",))


async def is_current(connection: Connection, workspace_id: UUID, document_id: UUID, version: int) -> bool:
    """False when the document was deleted, or a later version of it has been graphed."""
    values = {"workspace_id": workspace_id, "document_id": document_id, "version": version}
    cursor = await connection.execute(QUERIES["is_current"], values)
    return bool((await cursor.fetchone() or (False,))[0])


async def known(connection: Connection, workspace_id: UUID, document_id: UUID) -> Known | None:
    """None when the document has no graph."""
    async with connection.cursor(row_factory=class_row(Known)) as cursor:
        values = {"workspace_id": workspace_id, "document_id": document_id}
        return await (await cursor.execute(QUERIES["known_document"], values)).fetchone()


async def replace(connection: Connection, workspace_id: UUID, graphed: Graphed) -> None:
    """The document's rows are those of the extraction and no others."""
    extraction, document_id = graphed.extraction, graphed.document_id
    entities, pairs = await _remove_rows(connection, workspace_id, document_id)
    await _insert_rows(connection, workspace_id, document_id, extraction)
    entities |= {mention.entity_id for mention in extraction.mentions}
    pairs |= {(one.source_id, one.target_id) for one in extraction.relations}
    await _sum(connection, workspace_id, entities, pairs)
    await connection.execute(
        QUERIES["record_document"],
        {
            "workspace_id": workspace_id,
            "document_id": document_id,
            **asdict(graphed.source),
            "chunks": graphed.chunks,
            "entities": graphed.entities,
            "relations": graphed.relations,
            "method": extraction.method,
        },
    )


async def remove(connection: Connection, workspace_id: UUID, document_id: UUID) -> dict[str, int]:
    """Removes the document for good; entities and relations go with their last provenance. Returns what went."""
    document = (workspace_id, document_id)
    await connection.execute(
        "INSERT INTO deleted_document (workspace_id, document_id) VALUES (%s, %s) ON CONFLICT DO NOTHING", document
    )
    before = await remaining(connection, workspace_id, document_id)
    entities, pairs = await _remove_rows(connection, workspace_id, document_id)
    gone = await _sum(connection, workspace_id, entities, pairs)
    await connection.execute("DELETE FROM graphed_document WHERE workspace_id = %s AND document_id = %s", document)
    return before | gone


async def remaining(connection: Connection, workspace_id: UUID, document_id: UUID) -> dict[str, int]:
    """The document's provenance rows."""
    values = (workspace_id, document_id)
    mentions = await connection.execute(
        "SELECT count(*) FROM mention WHERE workspace_id = %s AND document_id = %s", values
    )
    count = int((await mentions.fetchone() or (0,))[0])
    evidence = await connection.execute(
        "SELECT count(*) FROM relation_evidence WHERE workspace_id = %s AND document_id = %s", values
    )
    return {"mentions": count, "relation_evidence": int((await evidence.fetchone() or (0,))[0])}


async def queue_projection(
    connection: Connection, workspace_id: UUID, document_id: UUID, receipt: dict[str, Any] | None = None
) -> None:
    """Neo4j is to show the document as it is then; a `receipt` is confirmed once it does."""
    values = {
        "workspace_id": workspace_id,
        "document_id": document_id,
        "receipt": None if receipt is None else Jsonb(receipt),
    }
    await connection.execute(QUERIES["queue_projection"], values)


async def _remove_rows(
    connection: Connection, workspace_id: UUID, document_id: UUID
) -> tuple[set[str], set[tuple[str, str]]]:
    """Returns the entities and pairs whose sums change."""
    values = {"workspace_id": workspace_id, "document_id": document_id}
    cursor = await connection.execute(QUERIES["touched_entities"], values)
    entities = {row[0] for row in await cursor.fetchall()}
    cursor = await connection.execute(QUERIES["touched_relations"], values)
    pairs = {(row[0], row[1]) for row in await cursor.fetchall()}
    for statement in (
        "DELETE FROM mention WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s",
        "DELETE FROM relation_evidence WHERE workspace_id = %(workspace_id)s AND document_id = %(document_id)s",
    ):
        await connection.execute(statement, values)
    return entities, pairs


async def _insert_rows(connection: Connection, workspace_id: UUID, document_id: UUID, extraction: Extraction) -> None:
    document = {"workspace_id": workspace_id, "document_id": document_id}
    mentions, relations = extraction.mentions, extraction.relations
    of_mentions = {
        "entity_ids": [one.entity_id for one in mentions],
        "name_keys": [one.name_key for one in mentions],
        "chunk_ids": [one.chunk_id for one in mentions],
        "surfaces": [one.surface for one in mentions],
        "types": [one.entity_type for one in mentions],
        "starts": [one.start for one in mentions],
        "ends": [one.end for one in mentions],
        "abouts": [one.about is not None for one in mentions],
    }
    await connection.execute(QUERIES["insert_mentions"], document | of_mentions)
    of_relations = {
        "source_ids": [one.source_id for one in relations],
        "target_ids": [one.target_id for one in relations],
        "types": [one.relation_type for one in relations],
        "weights": [one.weight for one in relations],
        "confidences": [one.confidence for one in relations],
        "chunk_ids": [one.chunk_id for one in relations],
        "starts": [one.start for one in relations],
        "ends": [one.end for one in relations],
    }
    await connection.execute(QUERIES["insert_evidence"], document | of_relations)


async def _sum(
    connection: Connection, workspace_id: UUID, entities: set[str], pairs: set[tuple[str, str]]
) -> dict[str, int]:
    """Brings the sums up to date; returns how many entities and pairs' relations were left without provenance."""
    ordered: Sequence[tuple[str, str]] = sorted(pairs)
    of_relations = {
        "workspace_id": workspace_id,
        "sources": [source for source, _ in ordered],
        "targets": [target for _, target in ordered],
    }
    removed = (await connection.execute(QUERIES["delete_relations"], of_relations)).rowcount
    kept = (await connection.execute(QUERIES["sum_relations"], of_relations)).rowcount
    of_entities = {"workspace_id": workspace_id, "ids": sorted(entities)}
    orphaned = (await connection.execute(QUERIES["delete_orphaned_entities"], of_entities)).rowcount
    await connection.execute(QUERIES["sum_entities"], of_entities)
    return {"entities": orphaned, "relations": max(0, removed - kept)}
