"""Keeps sets of triples: each by its name, replaced as a whole, deleted as a whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from uuid import UUID, uuid4

from psycopg.errors import LockNotAvailable
from psycopg.rows import class_row

from contracts.graph_triples import TripleFormat
from knowledge_graph.errors import ImportNotFound
from knowledge_graph.extraction.records import Extraction
from knowledge_graph.projection.queue import queue
from knowledge_graph.recording import provenance
from knowledge_graph.recording.provenance import Graphed, MadeFrom
from knowledge_graph.store.postgres import QUERIES
from knowledge_graph.triples.graphing import graphed
from knowledge_graph.triples.records import ReadTriples, TriplesNotValid
from knowledge_graph.triples.tables import from_csv, from_jsonl
from knowledge_graph.triples.turtle import from_turtle
from service_kit.auth import Principal
from service_kit.postgres import Connection, Database
from service_kit.problems import Unavailable

LONGEST_WAIT = "20s"
READERS = {TripleFormat.csv: from_csv, TripleFormat.jsonl: from_jsonl, TripleFormat.turtle: from_turtle}


@dataclass(frozen=True)
class StoredImport:
    id: UUID
    name: str
    format: str
    triples: int
    entities: int
    relations: int
    aliases: int
    notes: list[str]
    created_by: UUID
    created_at: datetime
    updated_at: datetime


class TripleImports:
    """`projects` says that Neo4j shows the graph too."""

    def __init__(self, database: Database, *, projects: bool) -> None:
        self.database, self.projects = database, projects

    async def bring(
        self, caller: Principal, name: str, kind: TripleFormat, content: bytes
    ) -> tuple[StoredImport, bool]:
        """The set of this name is made of these triples and no others; the second value says that it is new.

        Raises TriplesNotValid, with every line that is wrong, before anything is changed.
        """
        read = await asyncio.to_thread(_read, kind, content)
        workspace_id = caller.workspace_id
        async with self._writing(workspace_id) as connection:
            known = await self._id_of(connection, workspace_id, name)
            import_id = known or uuid4()
            extraction = await asyncio.to_thread(graphed, import_id, read)
            source = MadeFrom(1, name, None, None, "", sha256(content).hexdigest())
            made = Graphed(import_id, source, 0, extraction)
            changes = await provenance.replace(connection, workspace_id, made)
            await queue(connection, workspace_id, changes, projects=self.projects)
            stored = await self._record(connection, caller, kind, made, len(read.triples) + len(read.types))
        return stored, known is None

    async def page(self, workspace_id: UUID, after: str | None, limit: int) -> list[StoredImport]:
        """By name, those after the given one."""
        return await self._select(workspace_id, None, after, limit)

    async def one(self, workspace_id: UUID, import_id: UUID) -> StoredImport:
        """Raises ImportNotFound."""
        found = await self._select(workspace_id, import_id, None, 1)
        if not found:
            raise ImportNotFound
        return found[0]

    async def delete(self, workspace_id: UUID, import_id: UUID) -> None:
        """What no document and no other set says goes with it. Raises ImportNotFound."""
        async with self._writing(workspace_id) as connection:
            cursor = await connection.execute(
                "DELETE FROM triple_import WHERE workspace_id = %s AND id = %s", (workspace_id, import_id)
            )
            if not cursor.rowcount:
                raise ImportNotFound
            changes, _ = await provenance.remove(connection, workspace_id, import_id)
            await queue(connection, workspace_id, changes, projects=self.projects)

    @asynccontextmanager
    async def _writing(self, workspace_id: UUID) -> AsyncIterator[Connection]:
        """A transaction that has the workspace's turn; who asks waits for it, so not as long as what nobody waits for.
        Raises Unavailable."""
        async with self.database.workspace(workspace_id) as connection:
            try:
                await provenance.lock(connection, workspace_id, LONGEST_WAIT)
            except LockNotAvailable as error:
                raise Unavailable("other changes of this workspace's graph are being written; try again") from error
            yield connection

    async def _select(
        self, workspace_id: UUID, import_id: UUID | None, after: str | None, limit: int
    ) -> list[StoredImport]:
        values = {"workspace_id": workspace_id, "id": import_id, "after": after, "limit": limit}
        async with (
            self.database.workspace(workspace_id) as connection,
            connection.cursor(row_factory=class_row(StoredImport)) as cursor,
        ):
            return await (await cursor.execute(QUERIES["triple_imports"], values)).fetchall()

    async def _id_of(self, connection: Connection, workspace_id: UUID, name: str) -> UUID | None:
        cursor = await connection.execute(
            "SELECT id FROM triple_import WHERE workspace_id = %s AND name = %s", (workspace_id, name)
        )
        row = await cursor.fetchone()
        return row[0] if row else None

    async def _record(
        self, connection: Connection, caller: Principal, kind: TripleFormat, made: Graphed, triples: int
    ) -> StoredImport:
        extraction: Extraction = made.extraction
        values = {
            "workspace_id": caller.workspace_id,
            "id": made.document_id,
            "name": made.source.name,
            "format": kind.value,
            "triples": triples,
            "entities": made.entities,
            "relations": made.relations,
            "aliases": len(extraction.aliases),
            "notes": extraction.notes,
            "created_by": caller.user_id,
        }
        async with connection.cursor(row_factory=class_row(StoredImport)) as cursor:
            await cursor.execute(QUERIES["record_triple_import"], values)
            return (await cursor.fetchall())[0]


def _read(kind: TripleFormat, content: bytes) -> ReadTriples:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise TriplesNotValid(
            f"line {line}: the text is not UTF-8", errors=[{"line": line, "message": "not UTF-8"}]
        ) from error
    read = READERS[kind](text)
    if not read.triples and not read.types:
        raise TriplesNotValid("; ".join(["there are no triples in it", *read.notes]))
    return read
