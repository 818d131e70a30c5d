"""Deletes the postings of chunks, and counts them.

They are searched for under the terms that the analysis gives for the chunks' texts now. If fewer are found than the
index has recorded for the chunks, the analysis has changed since, and every row is searched.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from relevance.analysis import Analyzer
from retrieval.index.blocks import PostingBlock, PostingRows, PostingRowsSql, Recent
from retrieval.index.changes import Naming
from retrieval.index.groups import Group, GroupRows
from retrieval.index.preparation import StoredText, indexed_texts
from retrieval.lexical.columns import Int64s
from retrieval.lexical.postings import ORDINAL_BITS, Postings, TermPostings
from retrieval.reading.threads import releasing_gil

log = logging.getLogger(__name__)


class PostingRemoval:
    """Deletes postings of documents, whose locks the caller's transaction holds; `documents` has their names.

    Many at once cost little more than one: most rows of their postings are shared.
    """

    def __init__(self, rows: PostingRows, analyzer: Analyzer, documents: Mapping[int, Naming]) -> None:
        self.rows, self.analyzer, self.documents = rows, analyzer, documents
        self.groups = GroupRows(rows)
        self._terms: Collection[str] = ()  # of the blocks and groups that were searched

    async def remove(self, chunks: Sequence[int] | None = None) -> Counter[int]:
        """Removes the postings of these chunks (None: all), which must still exist; returns how many by document."""
        await self.rows.run(PostingRowsSql.lock)
        values = {"documents": list(self.documents), "chunks": None if chunks is None else list(chunks)}
        texts = await self.rows.all(PostingRowsSql.chunk_texts, StoredText, **values)
        expected = sum(one.postings for one in texts)
        numbers = np.sort(np.array([one.number for one in texts], np.int64))
        removed = await self._from_recent(numbers)
        if removed.total() < expected:
            self._terms = await asyncio.to_thread(self._analysed, texts)
            removed += await self._from_folded(numbers)
        if removed.total() < expected:
            log.info("searching all rows for postings", extra={"documents": sorted(self.documents)})
            self._terms = await self.rows.values(PostingRowsSql.every_term)
            removed += await self._from_folded(numbers)
        return removed

    async def remaining(self) -> Counter[int]:
        """Counts the postings that each document still has, in the rows that `remove` searched."""
        documents = np.sort(np.array(list(self.documents), np.int64))
        left = Counter[int]()

        def is_left(found: Int64s) -> NDArray[np.bool_]:
            return np.isin(found >> ORDINAL_BITS, documents)

        for row in await self.rows.recent_of(list(self.documents)):
            left[row.document] += len(row.terms.all_postings)
        chunks = np.stack([documents << ORDINAL_BITS, (documents + 1 << ORDINAL_BITS) - 1], axis=1).ravel()
        async for blocks in self.rows.touched(self._terms, chunks):
            left += await asyncio.to_thread(_count, (block.postings for block in blocks), is_left)
        async for groups in self.groups.touched(self._terms):
            left += await asyncio.to_thread(_count, (group.terms.all_postings for group in groups), is_left)
        return left

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

    async def _from_folded(self, chunks: Int64s) -> Counter[int]:
        """Removes postings from the blocks and groups of the terms."""
        removed = Counter[int]()
        async for blocks in self.rows.touched(self._terms, chunks):
            kept, gone = await asyncio.to_thread(_without, blocks, chunks)
            await self.rows.remove([block for block, _ in kept])
            await self.rows.add([(block.term, left) for block, left in kept if len(left)])
            removed += gone
        async for groups in self.groups.touched(self._terms):
            others, gone = await asyncio.to_thread(_groups_without, groups, chunks)
            await self.groups.put([(group.first_term, left) for group, left in others])
            removed += gone
        return removed


def _without(
    blocks: Sequence[PostingBlock], chunks: Int64s
) -> tuple[list[tuple[PostingBlock, Postings]], Counter[int]]:
    """Returns the blocks that have any of the chunks, with their other postings, and the number removed by document."""
    pairs = [(block, block.postings.without(chunks)) for block in releasing_gil(blocks)]
    changed = [(block, left) for block, left in pairs if len(left) < len(block.postings)]
    return changed, _count((block.postings for block, _ in changed), lambda found: np.isin(found, chunks))


def _groups_without(groups: Sequence[Group], chunks: Int64s) -> tuple[list[tuple[Group, TermPostings]], Counter[int]]:
    pairs = [(group, group.terms.without(chunks)) for group in releasing_gil(groups)]
    changed = [(group, left) for group, left in pairs if len(left.all_postings) < len(group.terms.all_postings)]
    return changed, _count((group.terms.all_postings for group, _ in changed), lambda found: np.isin(found, chunks))


def _count(found: Iterable[Postings], wanted: Callable[[Int64s], NDArray[np.bool_]]) -> Counter[int]:
    """Counts the postings in the wanted chunks, by document."""
    chunks = np.concatenate([np.empty(0, np.int64), *(postings.chunks for postings in found)])
    numbers, counts = np.unique(chunks[wanted(chunks)] >> ORDINAL_BITS, return_counts=True)
    return Counter(dict(zip(numbers.tolist(), counts.tolist(), strict=True)))
