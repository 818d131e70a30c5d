"""Every statement that changes the index of documents. All run in the caller's transaction."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from contracts.ingestion import Chunk
from retrieval.index.changes import Changes, StoredChunk, compare
from retrieval.index.rows import Facts, Prepared, Values, additions, json_rows
from service_kit.postgres import Connection
from service_kit.queries import load

QUERIES = load("retrieval")


@dataclass(frozen=True)
class Indexed(Facts):
    """A document as the index holds it; `number` stays the same from version to version."""

    number: int
    chunk_count: int
    term_count: int


@dataclass(frozen=True)
class Known:
    """What the index knows of a document: the version that it holds, if any, and whether it was deleted for good."""

    indexed: Indexed | None
    deleted: bool

    def wants(self, version: int) -> bool:
        """Whether the index should take this version: not of a deleted document, and none older than it holds."""
        return not self.deleted and (self.indexed is None or version >= self.indexed.version)


@dataclass(frozen=True)
class Removed:
    """Rows removed, by table; `number` is the document's, None when there was none."""

    number: int | None
    documents: int
    chunks: int
    postings: int
    vectors: int
    terms: int

    def counts(self) -> dict[str, int]:
        return {name: value for name, value in asdict(self).items() if name not in {"number", "terms"}}


@dataclass(frozen=True)
class Numbers:
    document: int
    chunks: list[int]


class IndexWriter:
    """Changes the index of one workspace, within one transaction."""

    def __init__(self, connection: Connection, workspace_id: UUID) -> None:
        self.connection, self.workspace_id = connection, workspace_id

    async def lock(self, document_id: UUID) -> Known:
        """Until the end of the transaction nobody else writes this document; what is known of it now."""
        await self.connection.execute(QUERIES["lock_documents"], self._place | {"document_ids": [document_id]})
        return await self.known(document_id)

    async def known(self, document_id: UUID) -> Known:
        of = self._place | {"document_id": document_id}
        async with self.connection.cursor(row_factory=class_row(Indexed)) as cursor:
            await cursor.execute(QUERIES["known_document"], of)
            indexed = await cursor.fetchone()
        deleted = await (await self.connection.execute(QUERIES["is_deleted"], of)).fetchone()
        return Known(indexed, bool(deleted and deleted[0]))

    async def replace(self, known: Known, prepared: Prepared) -> int:
        """Puts the document in the place of what is `known` of it, writing what has changed; its number."""
        before = known.indexed
        stored = await self._stored_chunks(before, prepared) if before else []
        naming = before.naming if before else None
        changes = compare(stored, naming, prepared.chunks, prepared.facts.naming)
        numbers = await self._take_numbers(len(changes.new))
        document = before.number if before else numbers.document
        place = self._place | {"document": document}
        await self._clear(place, changes)
        await self._put_document(prepared, document)
        if changes.kept:
            kept = [prepared.chunks[position] for position in changes.kept]
            moved: Values = {"numbers": list(changes.kept.values()), "chunks": json_rows(kept)}
            await self.connection.execute(QUERIES["move_chunks"], place | moved)
        for name, values in await asyncio.to_thread(additions, prepared, changes, numbers.chunks):
            await self.connection.execute(QUERIES[name], place | values)
        chunks, terms = (before.chunk_count, before.term_count) if before else (0, 0)
        await self._change_statistics(prepared.chunk_count - chunks, prepared.term_count - terms)
        return document

    async def set_facts(self, facts: Facts) -> None:
        """What is known of an indexed document, where it is found by the same words as before."""
        await self.connection.execute(QUERIES["set_facts"], self._place | facts.values())

    async def chunks(self, indexed: Indexed) -> list[Chunk]:
        """The chunks that the index holds, in their order (their tokens are not counted here)."""
        async with self.connection.cursor(row_factory=class_row(Chunk)) as cursor:
            await cursor.execute(QUERIES["document_chunks"], self._place | {"document": indexed.number})
            return await cursor.fetchall()

    async def purge(self, document_id: UUID) -> tuple[Removed, dict[str, int]]:
        """Removes the document for good; what was removed, and what is still counted afterwards."""
        of = self._place | {"document_id": document_id}
        await self.connection.execute(QUERIES["insert_tombstone"], of)
        async with self.connection.cursor(row_factory=class_row(Removed)) as cursor:
            await cursor.execute(QUERIES["remove_document"], of)
            removed = await cursor.fetchone() or Removed(None, 0, 0, 0, 0, 0)
        async with self.connection.cursor() as counting:
            await counting.execute(QUERIES["count_remaining"], of | {"number": removed.number})
            counts = await counting.fetchone() or (0, 0, 0, 0)
        if removed.documents:
            await self._change_statistics(-removed.chunks, -removed.terms)
        return removed, dict(zip(removed.counts(), counts, strict=True))

    async def _stored_chunks(self, before: Indexed, prepared: Prepared) -> list[StoredChunk]:
        model, dims = (prepared.vectors.model, prepared.vectors.dims) if prepared.vectors else (None, None)
        values = self._place | {"document": before.number, "model": model, "dims": dims}
        async with self.connection.cursor(row_factory=class_row(StoredChunk)) as cursor:
            await cursor.execute(QUERIES["stored_chunks"], values)
            return await cursor.fetchall()

    async def _clear(self, place: dict[str, object], changes: Changes) -> None:
        if changes.removed:
            await self.connection.execute(QUERIES["remove_chunks"], place | {"chunks": changes.removed})
        if changes.reworded:
            await self.connection.execute(QUERIES["remove_postings"], place | {"chunks": changes.reworded})

    async def _take_numbers(self, chunks: int) -> Numbers:
        async with self.connection.cursor(row_factory=class_row(Numbers)) as cursor:
            await cursor.execute(QUERIES["take_numbers"], {"chunks": chunks})
            numbers = await cursor.fetchone()
        assert numbers is not None
        return numbers

    async def _put_document(self, prepared: Prepared, number: int) -> None:
        counted = {"chunk_count": prepared.chunk_count, "term_count": prepared.term_count}
        values = prepared.facts.values() | counted | {"number": number, "title_terms": prepared.title_terms}
        await self.connection.execute(QUERIES["put_document"], self._place | values)

    async def _change_statistics(self, chunks: int, terms: int) -> None:
        if chunks or terms:
            values = self._place | {"chunks": chunks, "terms": terms}
            await self.connection.execute(QUERIES["change_statistics"], values)

    @property
    def _place(self) -> dict[str, object]:
        return {"workspace_id": self.workspace_id}


async def ensure_vector_index(connection: Connection, model: str, dims: int) -> str:
    """Creates the HNSW index of an embedding space where it is missing; its name. It may take long."""
    await connection.execute("SET LOCAL statement_timeout = 0")
    async with connection.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute("SELECT ensure_vector_index(%s, %s)", (model, dims))
        return str(await cursor.fetchone())
