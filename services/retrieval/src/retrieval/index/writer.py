"""Changes of a workspace's index, in the caller's transaction."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from relevance.analysis import Analyzer
from retrieval.index.blocks import PostingRows
from retrieval.index.changes import ChunkChanges, StoredChunk, compare
from retrieval.index.documents import IndexDocumentRows, Indexed, IndexRowCounts, KnownIndexDocument
from retrieval.index.preparation import Facts, Prepared, Values, additions, json_rows
from retrieval.index.removal import PostingRemoval
from retrieval.index.statements import IndexDocumentSql
from retrieval.lexical.postings import ORDINAL_BITS
from retrieval.reading.state import change_statistics, lock_documents, raise_generation
from service_kit.postgres import Connection


class IndexWriter:
    """Changes the index of one workspace, within one transaction."""

    def __init__(self, connection: Connection, workspace_id: UUID, analyzer: Analyzer) -> None:
        self.connection, self.workspace_id, self.analyzer = connection, workspace_id, analyzer
        self.documents = IndexDocumentRows(connection, workspace_id)
        self.postings = PostingRows(connection, workspace_id)
        self.most_ordinals = 1 << ORDINAL_BITS

    async def lock(self, document_id: UUID) -> KnownIndexDocument:
        """Locks out other writers of the document until the transaction ends; returns what is known about it."""
        await self.lock_all([document_id])
        return await self.documents.find(document_id)

    async def lock_all(self, document_ids: Sequence[UUID]) -> None:
        """Locks several documents. Call it once per transaction, before any other lock of the index."""
        await lock_documents(self.connection, self.workspace_id, document_ids)

    async def replace(self, known: KnownIndexDocument, prepared: Prepared) -> int:
        """Writes what differs from the `known` version; returns the document's number."""
        before = known.indexed
        space = (prepared.vectors.model, prepared.vectors.dims) if prepared.vectors else None
        stored = await self.documents.stored_chunks(before, space) if before else []
        naming = before.naming if before else None
        changes = compare(stored, naming, prepared.chunks, prepared.facts.naming)
        if before and before.next_ordinal + len(changes.new) > self.most_ordinals:
            await self._remove([before])
            await self._change_statistics(-before.chunk_count, -before.term_count, {before.stemming: -1})
            return await self.replace(KnownIndexDocument(None, known.deleted), prepared)
        number, next_ordinal = (
            (before.number, before.next_ordinal) if before else (await self.documents.take_number(), 0)
        )
        first = number << ORDINAL_BITS | next_ordinal
        if before:
            await self._clear(before, changes)
        totals = _totals(prepared, changes, stored)
        await self.documents.put(prepared, **totals, number=number, next_ordinal=next_ordinal + len(changes.new))
        if changes.kept:
            kept = [prepared.chunks[position] for position in changes.kept]
            moved: Values = {"numbers": list(changes.kept.values()), "chunks": json_rows(kept)}
            await self.documents.run(IndexDocumentSql.move_chunks, document=number, **moved)
        new_numbers = range(first, first + len(changes.new))
        for sql, values in await asyncio.to_thread(additions, prepared, changes, new_numbers):
            await self.documents.run(sql, document=number, **values)
        if changes.posted:
            await self.postings.ask_for_compaction()
        stemmings = Counter({prepared.facts.naming.stemming: 1})
        if before:
            stemmings[before.stemming] -= 1
        chunks, terms = (before.chunk_count, before.term_count) if before else (0, 0)
        await self._change_statistics(prepared.chunk_count - chunks, totals["term_count"] - terms, stemmings)
        return number

    async def set_facts(self, facts: Facts) -> None:
        """Changes the facts of an indexed document that is still found by the same words."""
        await self.documents.set_facts(facts)
        await raise_generation(self.connection, self.workspace_id)

    async def purge_all(self, document_ids: Sequence[UUID]) -> dict[UUID, tuple[IndexRowCounts, IndexRowCounts]]:
        """Deletes several documents, much faster than one by one; returns the rows (removed, remaining) of each."""
        found: list[Indexed] = []
        for document_id in dict.fromkeys(document_ids):
            await self.documents.add_tombstone(document_id)
            if indexed := (await self.documents.find(document_id)).indexed:
                found.append(indexed)
        counts = dict.fromkeys(document_ids, (IndexRowCounts(), IndexRowCounts()))
        if found:
            counts |= await self._remove(found)
            stemmings = Counter[str]()
            stemmings.subtract(one.stemming for one in found)
            chunks, terms = (
                sum(each) for each in zip(*((one.chunk_count, one.term_count) for one in found), strict=True)
            )
            await self._change_statistics(-chunks, -terms, stemmings)
        return counts

    async def _remove(self, found: Sequence[Indexed]) -> dict[UUID, tuple[IndexRowCounts, IndexRowCounts]]:
        removal = PostingRemoval(self.postings, self.analyzer, {one.number: one.naming for one in found})
        removed = await removal.remove()
        counts = []
        for one in found:
            gone = await self.documents.remove(one.number, one.document_id)
            counts.append((gone, await self.documents.remaining(one.number, one.document_id)))
        remaining = await removal.remaining()
        return {
            one.document_id: (
                replace(gone, postings=removed[one.number]),
                replace(left, postings=remaining[one.number]),
            )
            for one, (gone, left) in zip(found, counts, strict=True)
        }

    async def _clear(self, before: Indexed, changes: ChunkChanges) -> None:
        if gone := [*changes.removed, *changes.reworded]:
            await PostingRemoval(self.postings, self.analyzer, {before.number: before.naming}).remove(gone)
        if changes.removed:
            await self.documents.remove_chunks(changes.removed)

    async def _change_statistics(self, chunks: int, terms: int, stemmings: Mapping[str, int]) -> None:
        await change_statistics(self.connection, self.workspace_id, chunks, terms)
        await self.documents.change_stemmings(stemmings)


def _totals(prepared: Prepared, changes: ChunkChanges, stored: Sequence[StoredChunk]) -> dict[str, int]:
    """Returns the totals over all chunks, those kept unchanged and those analysed."""
    posted = set(changes.posted)
    as_they_are = {number for position, number in changes.kept.items() if position not in posted}
    kept = [one for one in stored if one.number in as_they_are]
    analyses = [prepared.analyses[position] for position in changes.posted]
    return {
        "term_count": sum(one.terms for one in kept) + sum(one.length for one in analyses),
        "posting_count": sum(one.postings for one in kept) + sum(len(one.frequencies) for one in analyses),
    }
