"""Writes the truth: a document's mentions and evidence, and the sums over them. The caller opens the transaction."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, fields
from uuid import UUID

from psycopg.rows import class_row

from knowledge_graph.extraction.records import Extraction
from knowledge_graph.recording import known_names, resolution, rows, sums
from knowledge_graph.recording.changes import Changes
from knowledge_graph.recording.generation import raise_generation
from knowledge_graph.store.postgres import QUERIES
from service_kit.postgres import Connection

LONGEST_WAIT = "10min"


@dataclass(frozen=True)
class MadeFrom:
    """All that a document's graph depends on; `chunks_digest` is the SHA-256 of the object `chunks_key`."""

    version: int
    name: str
    title: str | None
    language: str | None
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


async def lock(connection: Connection, workspace_id: UUID, wait: str = LONGEST_WAIT) -> None:
    """Writers of one workspace take turns: sums stay exact, and shared entities cannot deadlock.

    A long turn of another is no failure: for `wait`, longer than any statement may take, it is waited for. Raises
    LockNotAvailable after it.
    """
    key = (f"graph/{workspace_id}",)
    cursor = await connection.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", key)
    if (await cursor.fetchone() or (False,))[0]:
        return
    limits = "SELECT set_config('statement_timeout', '0', true), set_config('lock_timeout', %s, true)"
    await connection.execute(limits, (wait,))
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", key)
    await connection.execute("SET LOCAL statement_timeout TO DEFAULT")
    await connection.execute("SET LOCAL lock_timeout TO DEFAULT")


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


async def replace(connection: Connection, workspace_id: UUID, graphed: Graphed) -> Changes:
    """The document's rows are those of the extraction and no others; returns what changed, for `queue`."""
    changes = Changes(graphed.document_id)
    await _record(connection, workspace_id, changes, graphed.extraction)
    await connection.execute(
        QUERIES["record_document"],
        {
            "workspace_id": workspace_id,
            "document_id": graphed.document_id,
            **asdict(graphed.source),
            "chunks": graphed.chunks,
            "entities": graphed.entities,
            "relations": graphed.relations,
            "method": graphed.extraction.method,
            "notes": graphed.extraction.notes,
        },
    )
    return changes


async def remove(connection: Connection, workspace_id: UUID, document_id: UUID) -> tuple[Changes, dict[str, int]]:
    """Removes the document for good; entities and relations go with their last provenance. Returns what changed, and
    counts of what went."""
    document = (workspace_id, document_id)
    await connection.execute(
        "INSERT INTO deleted_document (workspace_id, document_id) VALUES (%s, %s) ON CONFLICT DO NOTHING", document
    )
    before = await remaining(connection, workspace_id, document_id)
    changes = Changes(document_id)
    await _record(connection, workspace_id, changes, Extraction("none"))
    await connection.execute("DELETE FROM graphed_document WHERE workspace_id = %s AND document_id = %s", document)
    return changes, before | {"entities": changes.removed_entities, "relations": changes.removed_relations}


async def remaining(connection: Connection, workspace_id: UUID, document_id: UUID) -> dict[str, int]:
    """The document's provenance rows."""
    cursor = await connection.execute(QUERIES["remaining"], {"workspace_id": workspace_id, "document_id": document_id})
    return {kind: int(count) for kind, count in await cursor.fetchall()}


async def _record(connection: Connection, workspace_id: UUID, changes: Changes, extraction: Extraction) -> None:
    """Each step has what it needs from those before: names, then what they stand for, then rows that say it."""
    document_id = changes.document_id
    old = await rows.remove(connection, workspace_id, document_id, changes)
    new = rows.names_of(workspace_id, extraction)
    await rows.insert_aliases(connection, workspace_id, document_id, extraction)
    changed = await known_names.write_names(connection, workspace_id, old, new)
    said = {alias for alias, _ in old.aliases ^ new.aliases}
    moved = await resolution.follow(connection, workspace_id, said, changes) if said else []
    await rows.insert(connection, workspace_id, document_id, extraction, changes)
    spread = Counter(new.candidates)
    spread.subtract(old.candidates)
    await known_names.follow(connection, workspace_id, changed, moved, spread, changes)
    await sums.follow(connection, workspace_id, changes)
    await raise_generation(connection, workspace_id)
