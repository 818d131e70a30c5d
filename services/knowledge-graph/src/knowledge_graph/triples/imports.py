"""Stores sets of triples by name; each set is replaced and deleted as a whole."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from uuid import UUID, uuid4

from contracts.graph_triples import TripleFormat
from knowledge_graph.errors import ImportNotFound
from knowledge_graph.projection.queue import queue
from knowledge_graph.recording.provenance import Graphed, GraphProvenance, MadeFrom
from knowledge_graph.recording.turns import writing
from knowledge_graph.triples.graphing import graphed
from knowledge_graph.triples.records import ReadTriples, TriplesNotValid
from knowledge_graph.triples.tables import from_csv, from_jsonl
from service_kit.auth import Principal
from service_kit.postgres import Database
from service_kit.repository import Repository
from service_kit.statements import Statements

COLUMNS = "id, name, format, triples, entities, relations, aliases, notes, created_by, created_at, updated_at"


def _from_turtle(text: str) -> ReadTriples:
    from knowledge_graph.triples.turtle import from_turtle  # noqa: PLC0415  its library is slow to import

    return from_turtle(text)


READERS = {TripleFormat.csv: from_csv, TripleFormat.jsonl: from_jsonl, TripleFormat.turtle: _from_turtle}


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


class ImportSql(Statements, file="imports.sql", columns=COLUMNS):
    page: str
    record: str
    delete: str
    id_of: str


class _Imports(Repository):
    async def page(self, import_id: UUID | None, after: str | None, limit: int) -> list[StoredImport]:
        return await self.all(ImportSql.page, StoredImport, id=import_id, after=after, limit=limit)

    async def delete(self, import_id: UUID) -> bool:
        return bool(await self.run(ImportSql.delete, id=import_id))

    async def id_of(self, name: str) -> UUID | None:
        found: UUID | None = await self.value(ImportSql.id_of, name=name)
        return found

    async def record(self, **columns: object) -> StoredImport:
        stored = await self.one(ImportSql.record, StoredImport, **columns)
        assert stored is not None, "the statement returns the row"
        return stored


class TripleImports:
    """The use cases of imported triples. `projects` is True if the graph has a projection."""

    def __init__(self, database: Database, *, projects: bool) -> None:
        self.database, self.projects = database, projects

    async def put(self, caller: Principal, name: str, kind: TripleFormat, content: bytes) -> tuple[StoredImport, bool]:
        """Replaces the set of this name by these triples; the second value is True if the set is new.

        Raises TriplesNotValid, with every invalid line, before anything is changed.
        """
        read = await asyncio.to_thread(_read, kind, content)
        workspace_id = caller.workspace_id
        async with writing(self.database, workspace_id) as connection:
            known = await _Imports(connection, workspace_id).id_of(name)
            import_id = known or uuid4()
            extraction = await asyncio.to_thread(graphed, import_id, read)
            source = MadeFrom(1, name, None, None, "", sha256(content).hexdigest())
            made = Graphed(import_id, source, 0, extraction)
            changes = await GraphProvenance(connection, workspace_id).replace(made)
            await queue(connection, workspace_id, changes, projects=self.projects)
            stored = await _Imports(connection, workspace_id).record(
                id=import_id,
                name=name,
                format=kind.value,
                triples=len(read.triples) + len(read.types),
                entities=made.entities,
                relations=made.relations,
                aliases=len(extraction.aliases),
                notes=extraction.notes,
                created_by=caller.user_id,
            )
        return stored, known is None

    async def page(self, workspace_id: UUID, after: str | None, limit: int) -> list[StoredImport]:
        """Returns the sets in order of their names, starting after the given one."""
        return await self._select(workspace_id, None, after, limit)

    async def one(self, workspace_id: UUID, import_id: UUID) -> StoredImport:
        """Returns a set. Raises ImportNotFound."""
        found = await self._select(workspace_id, import_id, None, 1)
        if not found:
            raise ImportNotFound
        return found[0]

    async def delete(self, workspace_id: UUID, import_id: UUID) -> None:
        """Deletes the set, and what no document and no other set states. Raises ImportNotFound."""
        async with writing(self.database, workspace_id) as connection:
            if not await _Imports(connection, workspace_id).delete(import_id):
                raise ImportNotFound
            changes, _ = await GraphProvenance(connection, workspace_id).delete(import_id)
            await queue(connection, workspace_id, changes, projects=self.projects)

    async def _select(
        self, workspace_id: UUID, import_id: UUID | None, after: str | None, limit: int
    ) -> list[StoredImport]:
        async with self.database.workspace(workspace_id) as connection:
            return await _Imports(connection, workspace_id).page(import_id, after, limit)


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
