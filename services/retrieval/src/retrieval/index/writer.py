"""Every statement that changes the index of documents. All run in the caller's transaction."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from contracts.ingestion import Chunk
from retrieval.index.blocks import PostingRows
from retrieval.index.changes import Changes, Naming, StoredChunk, compare
from retrieval.index.preparation import Facts, Prepared, Values, additions, json_rows
from retrieval.index.removal import PostingRemoval
from retrieval.lexical.postings import ORDINAL_BITS
from retrieval.reading.state import raise_generation
from retrieval.text.analysis import Analyzer
from service_kit.postgres import Connection
from service_kit.queries import load

QUERIES = load("retrieval")


@dataclass(frozen=True)
class Indexed(Facts):
    """A document as the index holds it; `number` stays the same from version to version, until ordinals run out.

    `stemming`: the rules by which its words were analysed. The counts are over all of its chunks.
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
class Known:
    """What the index knows of a document: the version that it holds, if any, and whether it was deleted for good."""

    indexed: Indexed | None
    deleted: bool

    def wants(self, version: int) -> bool:
        """Whether the index should take this version: not of a deleted document, and none older than it holds."""
        return not self.deleted and (self.indexed is None or version >= self.indexed.version)


@dataclass(frozen=True)
class Counts:
    """Rows of a document by what they hold (of postings: each term of each chunk)."""

    documents: int = 0
    chunks: int = 0
    postings: int = 0
    vectors: int = 0


class IndexWriter:
    """Changes the index of one workspace, within one transaction."""

    def __init__(self, connection: Connection, workspace_id: UUID, analyzer: Analyzer) -> None:
        self.connection, self.workspace_id, self.analyzer = connection, workspace_id, analyzer
        self.postings = PostingRows(connection, workspace_id)
        self.most_ordinals = 1 << ORDINAL_BITS

    async def lock(self, document_id: UUID) -> Known:
        """Until the end of the transaction nobody else writes this document; what is known of it now."""
        await self.lock_all([document_id])
        return await self.known(document_id)

    async def lock_all(self, document_ids: Sequence[UUID]) -> None:
        """The same of several: once in a transaction, before any other lock of the index."""
        await self.connection.execute(QUERIES["lock_documents"], self._place | {"document_ids": list(document_ids)})

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
        if before and before.next_ordinal + len(changes.new) > self.most_ordinals:
            await self._remove([before])
            await self._change_statistics(-before.chunk_count, -before.term_count, {before.stemming: -1})
            return await self.replace(Known(None, known.deleted), prepared)
        number, next_ordinal = (before.number, before.next_ordinal) if before else (await self._take_number(), 0)
        first = number << ORDINAL_BITS | next_ordinal
        place = self._place | {"document": number}
        if before:
            await self._clear(before, changes)
        totals = _totals(prepared, changes, stored)
        await self._put_document(prepared, totals | {"number": number, "next_ordinal": next_ordinal + len(changes.new)})
        if changes.kept:
            kept = [prepared.chunks[position] for position in changes.kept]
            moved: Values = {"numbers": list(changes.kept.values()), "chunks": json_rows(kept)}
            await self.connection.execute(QUERIES["move_chunks"], place | moved)
        new_numbers = range(first, first + len(changes.new))
        for name, values in await asyncio.to_thread(additions, prepared, changes, new_numbers):
            await self.connection.execute(QUERIES[name], place | values)
        if changes.posted:
            await self.postings.ask_for_compaction()
        stemmings = Counter({prepared.facts.naming.stemming: 1})
        if before:
            stemmings[before.stemming] -= 1
        chunks, terms = (before.chunk_count, before.term_count) if before else (0, 0)
        await self._change_statistics(prepared.chunk_count - chunks, totals["term_count"] - terms, stemmings)
        return number

    async def set_facts(self, facts: Facts) -> None:
        """What is known of an indexed document, where it is found by the same words as before."""
        await self.connection.execute(QUERIES["set_facts"], self._place | facts.values())
        await raise_generation(self.connection, self.workspace_id)

    async def chunks(self, indexed: Indexed) -> list[Chunk]:
        """The chunks that the index holds, in their order (their tokens are not counted here)."""
        of = {"document": indexed.number, "document_id": indexed.document_id}
        async with self.connection.cursor(row_factory=class_row(Chunk)) as cursor:
            await cursor.execute(QUERIES["document_chunks"], self._place | of)
            return await cursor.fetchall()

    async def purge(self, document_id: UUID) -> tuple[Counts, Counts]:
        """Removes the document for good; what was removed, and what is still counted afterwards."""
        return (await self.purge_all([document_id]))[document_id]

    async def purge_all(self, document_ids: Sequence[UUID]) -> dict[UUID, tuple[Counts, Counts]]:
        """The same of several documents, which takes much less than one after the other."""
        found: list[Indexed] = []
        for document_id in dict.fromkeys(document_ids):
            await self.connection.execute(QUERIES["insert_tombstone"], self._place | {"document_id": document_id})
            if indexed := (await self.known(document_id)).indexed:
                found.append(indexed)
        counts = dict.fromkeys(document_ids, (Counts(), Counts()))
        if found:
            counts |= await self._remove(found)
            stemmings = Counter[str]()
            stemmings.subtract(one.stemming for one in found)
            chunks, terms = (
                sum(each) for each in zip(*((one.chunk_count, one.term_count) for one in found), strict=True)
            )
            await self._change_statistics(-chunks, -terms, stemmings)
        return counts

    async def generation(self) -> int:
        """Of the workspace's index, as this transaction leaves it; 0 of one that was never changed."""
        row = await (await self.connection.execute(QUERIES["generation"], self._place)).fetchone()
        return row[0] if row else 0

    async def _remove(self, found: Sequence[Indexed]) -> dict[UUID, tuple[Counts, Counts]]:
        removal = PostingRemoval(self.postings, self.analyzer, {one.number: one.naming for one in found})
        removed = await removal.remove()
        counts = []
        for one in found:
            of = self._place | {"document_id": one.document_id, "number": one.number}
            counts.append([await self._counted(name, of) for name in ("remove_document", "count_remaining")])
        remaining = await removal.remaining()
        return {
            one.document_id: (
                replace(gone, postings=removed[one.number]),
                replace(left, postings=remaining[one.number]),
            )
            for one, (gone, left) in zip(found, counts, strict=True)
        }

    async def _counted(self, name: str, values: Values) -> Counts:
        """Without the postings."""
        row = await (await self.connection.execute(QUERIES[name], values)).fetchone()
        assert row is not None
        return Counts(documents=row[0], chunks=row[1], vectors=row[2])

    async def _stored_chunks(self, before: Indexed, prepared: Prepared) -> list[StoredChunk]:
        model, dims = (prepared.vectors.model, prepared.vectors.dims) if prepared.vectors else (None, None)
        values = self._place | {"document": before.number, "model": model, "dims": dims}
        async with self.connection.cursor(row_factory=class_row(StoredChunk)) as cursor:
            await cursor.execute(QUERIES["stored_chunks"], values)
            return await cursor.fetchall()

    async def _clear(self, before: Indexed, changes: Changes) -> None:
        if gone := [*changes.removed, *changes.reworded]:
            await PostingRemoval(self.postings, self.analyzer, {before.number: before.naming}).remove(gone)
        if changes.removed:
            await self.connection.execute(QUERIES["remove_chunks"], self._place | {"chunks": changes.removed})

    async def _take_number(self) -> int:
        async with self.connection.cursor(row_factory=scalar_row) as cursor:
            await cursor.execute(QUERIES["take_number"])
            return int(await cursor.fetchone() or 0)

    async def _put_document(self, prepared: Prepared, counted: Mapping[str, int]) -> None:
        facts = prepared.facts
        analysed = {
            "title_terms": prepared.title_terms,
            "name_terms": prepared.name_terms,
            "stemming": facts.naming.stemming,
        }
        values = facts.values() | analysed | {"chunk_count": prepared.chunk_count} | dict(counted)
        await self.connection.execute(QUERIES["put_document"], self._place | values)

    async def _change_statistics(self, chunks: int, terms: int, stemmings: Mapping[str, int]) -> None:
        values = self._place | {"chunks": chunks, "terms": terms}
        await self.connection.execute(QUERIES["change_statistics"], values)
        if changed := {name: change for name, change in sorted(stemmings.items()) if change}:
            of_stemmings = {"stemmings": list(changed), "changes": list(changed.values())}
            await self.connection.execute(QUERIES["change_stemmings"], self._place | of_stemmings)

    @property
    def _place(self) -> dict[str, object]:
        return {"workspace_id": self.workspace_id}


def _totals(prepared: Prepared, changes: Changes, stored: Sequence[StoredChunk]) -> dict[str, int]:
    """Of all chunks: what the index has of those that it keeps as they are, and what the others were analysed to."""
    posted = set(changes.posted)
    as_they_are = {number for position, number in changes.kept.items() if position not in posted}
    kept = [one for one in stored if one.number in as_they_are]
    analyses = [prepared.analyses[position] for position in changes.posted]
    return {
        "term_count": sum(one.terms for one in kept) + sum(one.length for one in analyses),
        "posting_count": sum(one.postings for one in kept) + sum(len(one.frequencies) for one in analyses),
    }
