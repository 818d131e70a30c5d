"""Deletes the postings of chunks, and counts them.

They are searched for under the terms that the analysis gives for the chunks' texts now. If fewer are found than the
index has recorded for the chunks, the analysis has changed since, and every row is searched.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from relevance.analysis import Analyzer
from retrieval.index.blocks import PostingBlock, PostingRows, Recent
from retrieval.index.changes import Naming
from retrieval.index.groups import Group, GroupRows
from retrieval.index.preparation import indexed_texts
from retrieval.index.statements import PostingRowsSql
from retrieval.lexical.columns import Int64s
from retrieval.lexical.postings import ORDINAL_BITS, Postings, TermPostings
from retrieval.reading.threads import releasing_gil

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class StoredText:
    """The text of a chunk. `postings`: how many it has."""

    number: int
    chunk_index: int
    heading_path: list[str]
    content: str
    postings: int


class PostingRemoval:
    """Deletes postings of documents, whose locks the caller's transaction holds; `documents` has their names.

    Many at once cost little more than one: most rows of their postings are shared.
    """

    def __init__(self, rows: PostingRows, analyzer: Analyzer, documents: Mapping[int, Naming]) -> None:
        self.rows, self.analyzer, self.documents = rows, analyzer, documents
        self.groups = GroupRows(rows)
        self._terms: set[str] = set()
        self._everywhere = False

    async def remove(self, chunks: Sequence[int] | None = None) -> Counter[int]:
        """Removes the postings of these chunks (None: all), which must still exist; returns how many by document."""
        await self.rows.lock()
        texts = await self._texts(chunks)
        expected, numbers = sum(one.postings for one in texts), _numbers(texts)
        removed = await self._from_recent(numbers)
        if removed.total() < expected:
            self._terms = await asyncio.to_thread(self._analysed, texts)
            removed += await self._from_blocks(self.rows.touched(self._terms, numbers), numbers)
            removed += await self._from_groups(self.groups.touched(self._terms), numbers)
        if removed.total() < expected:
            log.info("searching all rows for postings", extra={"documents": sorted(self.documents)})
            self._everywhere = True
            removed += await self._from_blocks(self.rows.overlapping(numbers), numbers)
            removed += await self._from_groups(self.groups.overlapping(numbers), numbers)
        return removed

    async def remaining(self) -> Counter[int]:
        """Counts the postings that each document still has, in the rows that `remove` searched."""
        documents = np.sort(np.array(list(self.documents), np.int64))
        left = Counter[int]()
        for row in await self.rows.recent_of(list(self.documents)):
            left[row.document] += len(row.terms.all_postings)
        chunks = np.stack([documents << ORDINAL_BITS, (documents + 1 << ORDINAL_BITS) - 1], axis=1).ravel()
        found = self.rows.overlapping(chunks) if self._everywhere else self.rows.touched(self._terms, chunks)
        async for blocks in found:
            left += await asyncio.to_thread(_count, [block.postings for block in blocks], documents)
        in_groups = self.groups.overlapping(chunks) if self._everywhere else self.groups.touched(self._terms)
        async for groups in in_groups:
            left += await asyncio.to_thread(_count, [group.terms.all_postings for group in groups], documents)
        return left

    async def _texts(self, chunks: Sequence[int] | None) -> list[StoredText]:
        values = {"documents": list(self.documents), "chunks": None if chunks is None else list(chunks)}
        return await self.rows.all(PostingRowsSql.chunk_texts, StoredText, **values)

    def _analysed(self, texts: Sequence[StoredText]) -> set[str]:
        found = set[str]()
        for chunk in releasing_gil(texts):
            naming = self.documents[chunk.number >> ORDINAL_BITS]
            for text in indexed_texts(naming, chunk):
                found.update(self.analyzer.terms(text, naming.stemming))
        return found

    async def _from_recent(self, chunks: Int64s) -> Counter[int]:
        removed = Counter[int]()
        changed = list[tuple[Recent, TermPostings]]()
        for row in await self.rows.recent_of(list(self.documents)):
            left = row.terms.without(chunks)
            if gone := len(row.terms.all_postings) - len(left.all_postings):
                changed.append((row, left))
                removed[row.document] += gone
        if changed:
            await self.rows.remove_recent([row for row, _ in changed])
            await self.rows.add_recent([(row.document, left) for row, left in changed])
        return removed

    async def _from_blocks(self, pages: AsyncIterator[list[PostingBlock]], chunks: Int64s) -> Counter[int]:
        removed = Counter[int]()
        async for blocks in pages:
            changed, gone = await asyncio.to_thread(_without, blocks, chunks)
            await self.rows.remove([block for block, _ in changed])
            await self.rows.add([(block.term, left) for block, left in changed if len(left)])
            removed += gone
        return removed

    async def _from_groups(self, pages: AsyncIterator[list[Group]], chunks: Int64s) -> Counter[int]:
        removed = Counter[int]()
        async for groups in pages:
            changed, gone = await asyncio.to_thread(_groups_without, groups, chunks)
            await self.groups.put([group.first_term for group, _ in changed], [left for _, left in changed])
            removed += gone
        return removed


def _without(
    blocks: Sequence[PostingBlock], chunks: Int64s
) -> tuple[list[tuple[PostingBlock, Postings]], Counter[int]]:
    """Returns the blocks that have any of the chunks, with their other postings, and the number removed by document."""
    pairs = [(block, block.postings.without(chunks)) for block in releasing_gil(blocks)]
    changed = [(block, left) for block, left in pairs if len(left) < len(block.postings)]
    return changed, _gone(((block.postings, left) for block, left in changed), chunks)


def _groups_without(groups: Sequence[Group], chunks: Int64s) -> tuple[list[tuple[Group, TermPostings]], Counter[int]]:
    pairs = [(group, group.terms.without(chunks)) for group in releasing_gil(groups)]
    changed = [(group, left) for group, left in pairs if len(left.all_postings) < len(group.terms.all_postings)]
    return changed, _gone(((group.terms.all_postings, left.all_postings) for group, left in changed), chunks)


def _gone(changed: Iterable[tuple[Postings, Postings]], chunks: Int64s) -> Counter[int]:
    documents = np.unique(chunks >> ORDINAL_BITS)
    before, after = list[Postings](), list[Postings]()
    for one, left in changed:
        before.append(one)
        after.append(left)
    return _count(before, documents) - _count(after, documents)


def _count(found: Sequence[Postings], documents: Int64s) -> Counter[int]:
    """Counts postings by document; `documents` are sorted."""
    own = np.concatenate([np.empty(0, np.int64), *(some.documents for some in found)])
    own = own[np.isin(own, documents)]
    numbers, counts = np.unique(own, return_counts=True)
    return Counter(dict(zip(numbers.tolist(), counts.tolist(), strict=True)))


def _numbers(texts: Sequence[StoredText]) -> Int64s:
    return np.sort(np.array([one.number for one in texts], np.int64))
