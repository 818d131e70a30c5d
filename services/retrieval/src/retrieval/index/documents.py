"""The rows of indexed documents and their chunks, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import LiteralString
from uuid import UUID

from contracts.ingestion import Chunk
from retrieval.index.changes import Naming
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

    async def remove(self, documents: Sequence[Indexed]) -> list[IndexRowCounts]:
        """Deletes the rows, chunks and vectors of documents; returns how many there were of each."""
        return await self.firsts(IndexDocumentSql.remove, IndexRowCounts, map(_key, documents))

    async def remaining(self, documents: Sequence[Indexed]) -> list[IndexRowCounts]:
        """Counts what is left of each of the documents."""
        return await self.firsts(IndexDocumentSql.count_remaining, IndexRowCounts, map(_key, documents))

    async def chunks(self, indexed: Indexed) -> list[Chunk]:
        """Returns the chunks in their order, without a count of their tokens."""
        return await self.all(IndexDocumentSql.chunks, Chunk, document=indexed.number, document_id=indexed.document_id)


def _key(document: Indexed) -> Values:
    return {"number": document.number, "document_id": document.document_id}
