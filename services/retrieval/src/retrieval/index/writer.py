"""Changes of a workspace's index, in the caller's transaction."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from relevance.analysis import Analyzer
from retrieval.index.blocks import CHANNEL, MOST_RECENT, PostingRows, PostingRowsSql
from retrieval.index.changes import StoredChunk, compare
from retrieval.index.documents import IndexDocumentRows, IndexDocumentSql, Indexed, IndexRowCounts, KnownIndexDocument
from retrieval.index.preparation import Facts, Prepared, Values
from retrieval.index.removal import PostingRemoval
from retrieval.index.replacement import Replacement
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
        return (await self.documents.find_all([document_id]))[document_id]

    async def lock_all(self, document_ids: Sequence[UUID]) -> None:
        """Locks several documents. Call it once per transaction, before any other lock of the index."""
        await lock_documents(self.connection, self.workspace_id, document_ids)

    async def replace(self, known: KnownIndexDocument, prepared: Prepared) -> int:
        """Writes what differs from the `known` version; returns the document's number."""
        [number] = await self.replace_all([(known, prepared)])
        return number

    async def replace_all(self, documents: Sequence[tuple[KnownIndexDocument, Prepared]]) -> list[int]:
        """Writes what differs from the known versions; returns the documents' numbers."""
        numbers = iter(await self.documents.values(IndexDocumentSql.take_numbers, count=len(documents)))
        made = [await self._replacement(known, prepared, next(numbers)) for known, prepared in documents]
        await self.documents.many(IndexDocumentSql.put, (one.row for one in made))
        for sql, each in (await asyncio.to_thread(_statements, made)).items():
            await self.documents.many(sql, each)
        if any(one.changes.posted for one in made):
            await self.postings.run(PostingRowsSql.ask_for_compaction, channel=CHANNEL, limit=MOST_RECENT)
        stemmings = Counter(one.prepared.facts.naming.stemming for one in made)
        before = [known.indexed for known, _ in documents if known.indexed]
        stemmings.subtract(one.stemming for one in before)
        chunks = sum(one.counted["chunk_count"] for one in made) - sum(one.chunk_count for one in before)
        terms = sum(one.counted["term_count"] for one in made) - sum(one.term_count for one in before)
        await self._change_statistics(chunks, terms, stemmings)
        return [one.number for one in made]

    async def set_facts(self, facts: Facts) -> None:
        """Changes the facts of an indexed document that is still found by the same words."""
        await self.documents.run(IndexDocumentSql.set_facts, **facts.values())
        await raise_generation(self.connection, self.workspace_id)

    async def purge_all(self, document_ids: Sequence[UUID]) -> dict[UUID, tuple[IndexRowCounts, IndexRowCounts]]:
        """Deletes several documents, much faster than one by one; returns the rows (removed, remaining) of each."""
        await self.documents.run(IndexDocumentSql.insert_tombstones, document_ids=list(document_ids))
        found = [one.indexed for one in (await self.documents.find_all(document_ids)).values() if one.indexed]
        counts = dict.fromkeys(document_ids, (IndexRowCounts(), IndexRowCounts()))
        if found:
            counts |= await self._remove(found)
            stemmings = Counter[str]()
            stemmings.subtract(one.stemming for one in found)
            chunks, terms = sum(one.chunk_count for one in found), sum(one.term_count for one in found)
            await self._change_statistics(-chunks, -terms, stemmings)
        return counts

    async def _replacement(self, known: KnownIndexDocument, prepared: Prepared, new: int) -> Replacement:
        """Compares the versions, and clears what the new one does not keep; `new` is an unused number."""
        before, after = known.indexed, prepared.facts.naming
        stored: list[StoredChunk] = []
        if before:
            model, dims = prepared.vectors.space if prepared.vectors else (None, None)
            values: Values = {"document": before.number, "model": model, "dims": dims}
            stored = await self.documents.all(IndexDocumentSql.stored_chunks, StoredChunk, **values)
        changes = compare(stored, before.naming if before else None, prepared.chunks, after)
        if before and before.next_ordinal + len(changes.new) > self.most_ordinals:
            await self._remove([before])
            before, stored, changes = None, [], compare([], None, prepared.chunks, after)
        if before is None:
            return Replacement(prepared, changes, stored, new, 0)
        if gone := [*changes.removed, *changes.reworded]:
            await PostingRemoval(self.postings, self.analyzer, {before.number: before.naming}).remove(gone)
        if changes.removed:
            await self.documents.run(IndexDocumentSql.remove_chunks, chunks=changes.removed)
        return Replacement(prepared, changes, stored, before.number, before.next_ordinal)

    async def _remove(self, found: Sequence[Indexed]) -> dict[UUID, tuple[IndexRowCounts, IndexRowCounts]]:
        removal = PostingRemoval(self.postings, self.analyzer, {one.number: one.naming for one in found})
        removed = await removal.remove()
        counts = zip(await self.documents.remove(found), await self.documents.remaining(found), strict=True)
        remaining = await removal.remaining()
        return {
            one.document_id: (
                replace(gone, postings=removed[one.number]),
                replace(left, postings=remaining[one.number]),
            )
            for one, (gone, left) in zip(found, counts, strict=True)
        }

    async def _change_statistics(self, chunks: int, terms: int, stemmings: Mapping[str, int]) -> None:
        await change_statistics(self.connection, self.workspace_id, chunks, terms)
        if changed := {name: change for name, change in sorted(stemmings.items()) if change}:
            values: Values = {"stemmings": list(changed), "changes": list(changed.values())}
            await self.documents.run(IndexDocumentSql.change_stemmings, **values)


def _statements(made: Sequence[Replacement]) -> dict[str, list[Values]]:
    """Returns the parameters of each statement that writes the documents, in the order to run them."""
    found = defaultdict[str, list[Values]](list)
    for one in made:
        for sql, values in one.statements():
            found[sql].append(values)
    return found
