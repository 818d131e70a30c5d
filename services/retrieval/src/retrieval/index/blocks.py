"""The rows of postings: blocks of one term, and recently indexed documents. In the caller's transaction.

Rows are written once: a changed row is deleted and written under another number.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import LiteralString, TypeVar

import numpy as np
from psycopg.rows import args_row

from retrieval.lexical.columns import Int64s
from retrieval.lexical.postings import LARGEST_BLOCK, ORDINAL_BITS, Postings, TermPostings, decode, decode_terms, encode
from retrieval.lexical.statements import PostingSql
from retrieval.reading.arrays import array_text, term_array
from retrieval.reading.threads import releasing_gil
from service_kit.repository import Repository
from service_kit.statements import Statements

CHANNEL = "retrieval_recent_postings"
MOST_RECENT = 200  # rows of a workspace that are not folded into blocks yet
WRITTEN_AT_ONCE, READ_AT_ONCE = 1000, 1000
Item = TypeVar("Item")


@dataclass(frozen=True)
class PostingBlock:
    term: str
    number: int
    payload: bytes

    @cached_property
    def postings(self) -> Postings:
        return decode(self.payload)


@dataclass(frozen=True)
class Recent:
    """A row of recent postings: terms of some chunks of one document."""

    document: int
    batch: int
    payload: bytes

    @cached_property
    def terms(self) -> TermPostings:
        return decode_terms(self.payload)


class PostingRowsSql(Statements, file="postings.sql"):
    """Blocks, groups and recent rows of postings."""

    lock: LiteralString
    try_lock: LiteralString
    every_term: LiteralString
    insert_blocks: LiteralString
    remove_blocks: LiteralString
    growing_blocks: LiteralString
    small_blocks: LiteralString
    touched_blocks: LiteralString
    touched_groups: LiteralString
    put_groups: LiteralString
    remove_groups: LiteralString
    recent_of_documents: LiteralString
    oldest_recent: LiteralString
    insert_recents: LiteralString
    remove_recent: LiteralString
    recent_workspaces: LiteralString
    ask_for_compaction: LiteralString
    chunk_texts: LiteralString


class PostingRows(Repository):
    """The rows of one workspace."""

    async def add(self, postings: Sequence[tuple[str, Postings]]) -> None:
        """Writes one block for each term with its postings."""
        for some in batches(postings, WRITTEN_AT_ONCE):
            await self.run(PostingRowsSql.insert_blocks, **await asyncio.to_thread(_columns, some))

    async def remove(self, blocks: Sequence[PostingBlock]) -> None:
        if not blocks:
            return
        terms, numbers = term_array(block.term for block in blocks), array_text(block.number for block in blocks)
        await self.run(PostingRowsSql.remove_blocks, terms=terms, blocks=numbers)

    async def growing(self, counts: dict[str, int]) -> dict[str, PostingBlock]:
        """Returns by term the block to add `counts` postings to, for terms that have a suitable one."""
        found: dict[str, PostingBlock] = {}
        for terms in batches(list(counts), READ_AT_ONCE):
            values = {"terms": term_array(terms), "counts": array_text(counts[term] for term in terms)}
            blocks = await self.read(PostingBlock, PostingRowsSql.growing_blocks, **values, largest=LARGEST_BLOCK)
            found |= {block.term: block for block in blocks}
        return found

    async def touched(self, terms: Iterable[str], chunks: Int64s) -> AsyncIterator[list[PostingBlock]]:
        """Yields blocks of these terms that may have these chunks (sorted), in batches."""
        _, firsts, counts = np.unique(chunks >> ORDINAL_BITS, return_index=True, return_counts=True)
        ranges = {
            "firsts": array_text(chunks[firsts].tolist()),
            "lasts": array_text(chunks[firsts + counts - 1].tolist()),
        }
        for some in batches(sorted(set(terms)), READ_AT_ONCE):
            yield await self.read(PostingBlock, PostingRowsSql.touched_blocks, **ranges, terms=term_array(some))

    async def recent_of(self, documents: Sequence[int]) -> list[Recent]:
        return await self.read(Recent, PostingRowsSql.recent_of_documents, documents=list(documents))

    async def recent(self, rows: Sequence[tuple[int, int]]) -> list[Recent]:
        """Returns the rows with these documents and batches that still exist."""
        values = {"documents": [document for document, _ in rows], "batches": [batch for _, batch in rows]}
        return await self.read(Recent, PostingSql.recent_payloads, **values)

    async def add_recent(self, rows: Sequence[tuple[int, TermPostings]]) -> list[tuple[int, int]]:
        """Writes a row for each document that has terms; returns (document, batch)."""
        filled = [(document, terms) for document, terms in rows if len(terms)]
        if not filled:
            return []
        values = {
            "documents": [document for document, _ in filled],
            "postings": [len(terms.all_postings) for _, terms in filled],
            "payloads": await asyncio.to_thread(lambda: [terms.encode() for _, terms in releasing_gil(filled)]),
        }
        return await self.read(lambda document, batch: (document, batch), PostingRowsSql.insert_recents, **values)

    async def remove_recent(self, rows: Sequence[Recent]) -> None:
        values = {"documents": [row.document for row in rows], "batches": [row.batch for row in rows]}
        await self.run(PostingRowsSql.remove_recent, **values)

    async def read(self, make: Callable[..., Item], sql: LiteralString, **values: object) -> list[Item]:
        """Returns what `make` makes of each row's columns, which are sent in binary form."""
        async with self.connection.cursor(binary=True, row_factory=args_row(make)) as cursor:
            await cursor.execute(sql, {**self.bound, **values})
            return await cursor.fetchall()


def batches(items: Sequence[Item], most: int) -> Iterator[Sequence[Item]]:
    """Yields consecutive parts of at most `most` items."""
    return (items[start : start + most] for start in range(0, len(items), most))


def _columns(postings: Sequence[tuple[str, Postings]]) -> dict[str, object]:
    payloads = [encode(part) for _, part in releasing_gil(postings)]
    parts = [part for _, part in postings]
    return {
        "terms": term_array(term for term, _ in postings),
        "first": array_text(int(part.chunks[0]) for part in parts),
        "last": array_text(int(part.chunks[-1]) for part in parts),
        "postings": array_text(len(part) for part in parts),
        "max_frequency": array_text(int(part.frequencies.max()) for part in parts),
        "min_length": array_text(int(part.lengths.min()) for part in parts),
        "payloads": payloads,
    }
