"""The rows of indexed documents and their chunks, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import LiteralString
from uuid import UUID

from contracts.ingestion import Chunk
from contracts.retrieval import IndexedDocument
from inference.embedders import SpaceKey
from retrieval.index.changes import Naming, StoredChunk
from retrieval.index.preparation import Facts, Values
from service_kit.repository import Repository
from service_kit.statements import Statements


@dataclass(frozen=True)
class Indexed(Facts):
    """A document in the index; `number` stays the same from version to version, until ordinals run out.

    `stemming`: the rules that its words were analysed with. The counts are over all of its chunks.
    """

    number: int
    stemming: str
    next_ordinal: int
    chunk_count: int
    term_count: int
    posting_count: int

    @property
    def naming(self) -> Naming:
        return replace(super().naming, stemming=self.stemming)


@dataclass(frozen=True)
class KnownIndexDocument:
    """What the index knows about a document: the indexed version, if any, and whether it was deleted for good."""

    indexed: Indexed | None
    deleted: bool

    def wants(self, version: int) -> bool:
        """Returns whether to index this version: the document is not deleted, and no newer version is indexed."""
        return not self.deleted and (self.indexed is None or version >= self.indexed.version)


@dataclass(frozen=True)
class IndexRowCounts:
    """Counts of a document's rows; a posting is one term in one chunk."""

    documents: int = 0
    chunks: int = 0
    postings: int = 0
    vectors: int = 0


COLUMNS = [field.name for field in fields(Indexed)]


class IndexDocumentSql(
    Statements,
    file="documents.sql",
    columns=", ".join(COLUMNS),
    values=", ".join(f"%({column})s" for column in COLUMNS),
    new_values=", ".join(f"excluded.{column}" for column in COLUMNS),
):
    """Indexed documents, their chunks and vectors, and the tombstones of deleted ones."""

    find: LiteralString
    deleted: LiteralString
    insert_tombstones: LiteralString
    take_numbers: LiteralString
    put: LiteralString
    set_facts: LiteralString
    remove: LiteralString
    count_remaining: LiteralString
    page: LiteralString
    stored_chunks: LiteralString
    chunks: LiteralString
    insert_chunks: LiteralString
    move_chunks: LiteralString
    reword_chunks: LiteralString
    remove_chunks: LiteralString
    insert_vectors: LiteralString
    change_stemmings: LiteralString


class IndexDocumentRows(Repository):
    """The indexed documents of one workspace."""

    async def find_all(self, document_ids: Sequence[UUID]) -> dict[UUID, KnownIndexDocument]:
        """Returns what the index knows about each of the documents."""
        rows = await self.all(IndexDocumentSql.find, Indexed, document_ids=list(document_ids))
        deleted = set(await self.values(IndexDocumentSql.deleted, document_ids=list(document_ids)))
        indexed = {row.document_id: row for row in rows}
        return {one: KnownIndexDocument(indexed.get(one), one in deleted) for one in document_ids}

    async def page(self, after: UUID, limit: int, space: SpaceKey) -> list[IndexedDocument]:
        """Returns documents in the order of their ids, with the number of their vectors in this embedding space."""
        values = {"model": space[0], "dims": space[1], "after": after, "limit": limit}
        return await self.all(IndexDocumentSql.page, IndexedDocument, **values)

    async def add_tombstones(self, document_ids: Sequence[UUID]) -> None:
        """Records that the documents are deleted, so that later events about them are ignored."""
        await self.run(IndexDocumentSql.insert_tombstones, document_ids=list(document_ids))

    async def remove(self, documents: Sequence[tuple[int, UUID | None]]) -> list[IndexRowCounts]:
        """Deletes the rows, chunks and vectors of documents; returns how many there were of each."""
        return await self.firsts(IndexDocumentSql.remove, IndexRowCounts, map(_key, documents))

    async def remaining(self, documents: Sequence[tuple[int, UUID | None]]) -> list[IndexRowCounts]:
        """Counts what is left of each of the documents."""
        return await self.firsts(IndexDocumentSql.count_remaining, IndexRowCounts, map(_key, documents))

    async def chunks(self, indexed: Indexed) -> list[Chunk]:
        """Returns the chunks in their order, without a count of their tokens."""
        return await self.all(IndexDocumentSql.chunks, Chunk, document=indexed.number, document_id=indexed.document_id)

    async def stored_chunks(self, indexed: Indexed, space: SpaceKey | None) -> list[StoredChunk]:
        """Returns the chunks for comparison with a new version; `space` is that of the new vectors."""
        model, dims = space or (None, None)
        return await self.all(
            IndexDocumentSql.stored_chunks, StoredChunk, document=indexed.number, model=model, dims=dims
        )

    async def remove_chunks(self, numbers: Sequence[int]) -> None:
        """Deletes chunks with their vectors."""
        await self.run(IndexDocumentSql.remove_chunks, chunks=list(numbers))

    async def take_numbers(self, count: int) -> list[int]:
        """Returns document numbers that were never used."""
        return await self.values(IndexDocumentSql.take_numbers, count=count)

    async def change_stemmings(self, changes: Mapping[str, int]) -> None:
        """Adds to the counts of documents by stemming. Call it after changing the statistics."""
        if changed := {name: change for name, change in sorted(changes.items()) if change}:
            stemmings: Values = {"stemmings": list(changed), "changes": list(changed.values())}
            await self.run(IndexDocumentSql.change_stemmings, **stemmings)


def _key(document: tuple[int, UUID | None]) -> Values:
    return {"number": document[0], "document_id": document[1]}
