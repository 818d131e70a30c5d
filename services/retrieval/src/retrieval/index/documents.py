"""The rows of indexed documents and their chunks, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import LiteralString
from uuid import UUID

from contracts.ingestion import Chunk
from contracts.retrieval import IndexedDocument
from inference.embedders import SpaceKey
from retrieval.index.changes import Naming, StoredChunk
from retrieval.index.preparation import Facts, Prepared, Values
from retrieval.index.statements import IndexDocumentSql
from service_kit.repository import Repository


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


class IndexDocumentRows(Repository):
    """The indexed documents of one workspace."""

    async def find(self, document_id: UUID) -> KnownIndexDocument:
        """Returns what the index knows about the document."""
        indexed = await self.one(IndexDocumentSql.find, Indexed, document_id=document_id)
        return KnownIndexDocument(indexed, bool(await self.value(IndexDocumentSql.is_deleted, document_id=document_id)))

    async def page(self, after: UUID, limit: int, space: SpaceKey) -> list[IndexedDocument]:
        """Returns documents in the order of their ids, with the number of their vectors in this embedding space."""
        values = {"model": space[0], "dims": space[1], "after": after, "limit": limit}
        return await self.all(IndexDocumentSql.page, IndexedDocument, **values)

    async def add_tombstone(self, document_id: UUID) -> None:
        """Records that the document is deleted, so that later events about it are ignored."""
        await self.run(IndexDocumentSql.insert_tombstone, document_id=document_id)

    async def put(self, prepared: Prepared, **counted: int) -> None:
        """Writes the document's own row; `counted` are its number, its next ordinal and the totals of its chunks."""
        analysed = {
            "title_terms": prepared.title_terms,
            "name_terms": prepared.name_terms,
            "stemming": prepared.facts.naming.stemming,
            "chunk_count": prepared.chunk_count,
        }
        await self.run(IndexDocumentSql.put, **prepared.facts.values(), **analysed, **counted)

    async def set_facts(self, facts: Facts) -> None:
        """Changes the facts of an indexed document that is still found by the same words."""
        await self.run(IndexDocumentSql.set_facts, **facts.values())

    async def remove(self, number: int, document_id: UUID | None) -> IndexRowCounts:
        """Deletes the document's row, chunks and vectors; returns how many there were."""
        return await self._counted(IndexDocumentSql.remove, number, document_id)

    async def remaining(self, number: int, document_id: UUID) -> IndexRowCounts:
        """Counts what is left of the document."""
        return await self._counted(IndexDocumentSql.count_remaining, number, document_id)

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

    async def take_number(self) -> int:
        """Returns a document number that was never used."""
        return int(await self.value(IndexDocumentSql.take_number))

    async def change_stemmings(self, changes: Mapping[str, int]) -> None:
        """Adds to the counts of documents by stemming. Call it after changing the statistics."""
        if changed := {name: change for name, change in sorted(changes.items()) if change}:
            stemmings: Values = {"stemmings": list(changed), "changes": list(changed.values())}
            await self.run(IndexDocumentSql.change_stemmings, **stemmings)

    async def _counted(self, sql: LiteralString, number: int, document_id: UUID | None) -> IndexRowCounts:
        found = await self.one(sql, IndexRowCounts, number=number, document_id=document_id)
        assert found is not None, "the statement gives a row for every document"
        return found
