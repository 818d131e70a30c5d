"""Takes the postings of chunks out of the index, for good, and counts them.

They are looked for under the terms that the chunks' texts are analysed to now. If those are not as many as the index
knows the chunks to have, the analysis has changed since, and every row is looked through.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import numpy as np
from psycopg.rows import class_row

from retrieval.index.blocks import QUERIES, Block, PostingRows, giving_way
from retrieval.index.changes import Naming
from retrieval.index.groups import Group, GroupRows
from retrieval.index.rows import indexed_texts
from retrieval.lexical.analysis import Analyzer
from retrieval.lexical.columns import Int64s
from retrieval.lexical.postings import Postings, TermPostings

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class StoredPassage:
    """What a chunk's terms come from. `postings`: how many it has."""

    number: int
    chunk_index: int
    heading_path: list[str]
    content: str
    postings: int


class PostingRemoval:
    """Of one document, in the caller's transaction, which holds the document's lock."""

    def __init__(self, rows: PostingRows, analyzer: Analyzer, document: int, naming: Naming) -> None:
        self.rows, self.analyzer, self.document, self.naming = rows, analyzer, document, naming
        self.groups = GroupRows(rows)
        self._terms: set[str] = set()
        self._everywhere = False

    async def remove(self, chunks: Sequence[int] | None = None) -> int:
        """Before the chunks themselves go; of all of them for None. How many postings were removed."""
        await self.rows.lock()
        passages = await self._passages(chunks)
        expected, numbers = sum(one.postings for one in passages), _numbers(passages)
        removed = await self._from_recent(numbers)
        if removed < expected:
            self._terms = await asyncio.to_thread(self._analysed, passages)
            removed += await self._from_blocks(self.rows.touched(self._terms, numbers), numbers)
            removed += await self._from_groups(self.groups.touched(self._terms), numbers)
        if removed < expected:
            log.info("postings are looked for in every row", extra={"document": self.document})
            self._everywhere = True
            removed += await self._from_blocks(self.rows.overlapping(numbers), numbers)
            removed += await self._from_groups(self.groups.overlapping(numbers), numbers)
        return removed

    async def remaining(self) -> int:
        """Counts what the index still has of the document, in the rows that `remove` looked in."""
        left = sum(len(row.terms.all_postings) for row in await self.rows.recent_of(self.document))
        chunks = np.array([self.document << 20, (self.document + 1 << 20) - 1], np.int64)
        found = self.rows.overlapping(chunks) if self._everywhere else self.rows.touched(self._terms, chunks)
        async for blocks in found:
            left += await asyncio.to_thread(_count, [block.postings for block in blocks], self.document)
        in_groups = self.groups.overlapping(chunks) if self._everywhere else self.groups.touched(self._terms)
        async for groups in in_groups:
            left += await asyncio.to_thread(_count, [group.terms.all_postings for group in groups], self.document)
        return left

    async def _passages(self, chunks: Sequence[int] | None) -> list[StoredPassage]:
        values = self.rows.place | {"document": self.document, "chunks": None if chunks is None else list(chunks)}
        async with self.rows.connection.cursor(row_factory=class_row(StoredPassage)) as cursor:
            await cursor.execute(QUERIES["passages_of_document"], values)
            return await cursor.fetchall()

    def _analysed(self, passages: Sequence[StoredPassage]) -> set[str]:
        return {
            term
            for passage in passages
            for text in indexed_texts(self.naming, passage)
            for term in self.analyzer.terms(text, self.naming.stemming)
        }

    async def _from_recent(self, chunks: Int64s) -> int:
        removed = 0
        for row in await self.rows.recent_of(self.document):
            left = row.terms.without(chunks)
            gone = len(row.terms.all_postings) - len(left.all_postings)
            if gone:
                await self.rows.remove_recent([row])
                await self.rows.add_recent([(self.document, left)])
            removed += gone
        return removed

    async def _from_blocks(self, pages: AsyncIterator[list[Block]], chunks: Int64s) -> int:
        removed = 0
        async for blocks in pages:
            changed = await asyncio.to_thread(_without, blocks, chunks)
            await self.rows.remove([block for block, _ in changed])
            await self.rows.add([(block.term, left) for block, left in changed if len(left)])
            removed += sum(len(block.postings) - len(left) for block, left in changed)
        return removed

    async def _from_groups(self, pages: AsyncIterator[list[Group]], chunks: Int64s) -> int:
        removed = 0
        async for groups in pages:
            changed = await asyncio.to_thread(_groups_without, groups, chunks)
            await self.groups.put([group.first_term for group, _ in changed], [left for _, left in changed])
            removed += sum(len(group.terms.all_postings) - len(left.all_postings) for group, left in changed)
        return removed


def _without(blocks: Sequence[Block], chunks: Int64s) -> list[tuple[Block, Postings]]:
    """Those that hold any of the chunks, with what is left of them."""
    pairs = [(block, block.postings.without(chunks)) for block in giving_way(blocks)]
    return [(block, left) for block, left in pairs if len(left) < len(block.postings)]


def _groups_without(groups: Sequence[Group], chunks: Int64s) -> list[tuple[Group, TermPostings]]:
    pairs = [(group, group.terms.without(chunks)) for group in giving_way(groups)]
    return [(group, left) for group, left in pairs if len(left.all_postings) < len(group.terms.all_postings)]


def _count(found: Sequence[Postings], document: int) -> int:
    return sum(int(np.count_nonzero(some.documents == document)) for some in giving_way(found))


def _numbers(passages: Sequence[StoredPassage]) -> Int64s:
    return np.sort(np.array([one.number for one in passages], np.int64))
