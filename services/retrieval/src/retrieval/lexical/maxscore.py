"""Finds the best chunks by BM25, exactly, from as few postings as possible.

MaxScore (Turtle, Flood 1995), word by word: once the words that are left cannot bring another chunk among the best,
they are only looked up for the chunks that can still be among them. A word's bound comes from the headers of its
blocks: the greatest frequency and the least length in them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from relevance.bm25 import Floats, WeightedQuery, WeightedWord
from retrieval.lexical.columns import Int64s
from retrieval.lexical.lists import PostingLists
from retrieval.lexical.postings import ORDINAL_BITS, Postings, concatenated

P = ParamSpec("P")
R = TypeVar("R")
_TOGETHER = 200_000  # postings per statement; the bounds are checked before more are read
_OFF_LOOP = 100_000  # postings; more are scored in another thread
_ROWS = 4  # last rows of concatenated blocks that another block may be appended to
_SLACK = 1e-9  # for rounding of floating-point sums: what a bound leaves out must certainly be worse


@dataclass(frozen=True)
class ChunkFilter:
    """Limits a search to `documents` (sorted numbers; None: all), without the `banned` chunks (sorted)."""

    documents: Int64s | None = None
    banned: Int64s | None = None

    def allowed(self, chunks: Int64s) -> NDArray[np.bool_]:
        found = np.ones(len(chunks), bool)
        if self.documents is not None:
            found = contains(self.documents, chunks >> ORDINAL_BITS)
        return found if self.banned is None else found & ~contains(self.banned, chunks)

    def blocks(self, first: Int64s, last: Int64s) -> NDArray[np.intp]:
        """Returns the positions of the ranges of chunks that may have an allowed one."""
        if self.documents is None:
            return np.arange(len(first))
        begin = np.searchsorted(self.documents, first >> ORDINAL_BITS)
        return np.flatnonzero(np.searchsorted(self.documents, last >> ORDINAL_BITS, "right") > begin)


@dataclass(frozen=True)
class RankedChunks:
    """Chunks and their scores, best first; equals in the order of their numbers."""

    chunks: Int64s
    scores: Floats


class MaxScore:
    """Ranks chunks for a weighted query; the headers of its known terms have been read.

    Up to `together` postings are loaded at once; the bounds are checked before more are loaded.
    """

    def __init__(
        self, lists: PostingLists, query: WeightedQuery, limits: ChunkFilter | None = None, together: int = _TOGETHER
    ) -> None:
        self.lists, self.query, self.limits, self.together = lists, query, limits or ChunkFilter(), together
        self._rows: dict[tuple[str, bytes], list[Postings]] = {}

    async def best(self, k: int, required: Collection[int] = ()) -> RankedChunks:
        """Returns the `k` best chunks that have any of the words, and all of the `required` ones (by position)."""
        words = [word for position, word in enumerate(self.query.words) if position not in required and word.weights]
        needed = sorted((self.query.words[position] for position in required), key=self._postings)
        if any(not word.weights for word in needed):
            return _ranked(np.empty(0, np.int64), np.empty(0), k)
        words.sort(key=self._bound, reverse=True)
        order = needed + words
        left = np.cumsum([self._bound(word) for word in reversed(order)])[::-1].tolist()
        chunks, scores = np.empty(0, np.int64), np.empty(0)
        loaded = 0
        for place, word in enumerate(order):
            threshold = _kth(scores, k)
            if place < len(needed) and place > 0:
                gained = await self.look_up(word, chunks)
                chunks, scores = chunks[gained > 0], (scores + gained)[gained > 0]
            elif (needed and place) or threshold > left[place] * (1 + _SLACK):
                kept = scores + left[place] * (1 + _SLACK) >= threshold
                chunks, scores = chunks[kept], scores[kept]
                scores = scores + await self.look_up(word, chunks)
            else:
                if place >= loaded:
                    loaded = await self._load_some(order, place)
                parts = await _apart(self._postings(word), self._scored, word)
                chunks, scores = await _apart(len(chunks) + len(parts[0]), _added, (chunks, scores), parts)
        return _ranked(chunks, scores, k)

    async def look_up(self, word: WeightedWord, chunks: Int64s) -> Floats:
        """Returns what the word adds to each chunk (sorted), 0 if it does not occur."""
        hit: dict[str, NDArray[np.intp]] = {}
        for term in word.weights:
            header = self.lists.headers[term]
            begin, end = np.searchsorted(chunks, header.first), np.searchsorted(chunks, header.last, "right")
            hit[term] = np.flatnonzero(end > begin)
        await self.lists.load(hit)
        return await _apart(len(chunks) + sum(map(len, hit.values())) * 1000, self._gained, word, chunks, hit)

    def _gained(self, word: WeightedWord, chunks: Int64s, hit: dict[str, NDArray[np.intp]]) -> Floats:
        gained = np.zeros(len(chunks))
        for term, positions in hit.items():
            for found in self._read(term, positions):
                begin, end = np.searchsorted(chunks, [found.chunks[0], found.chunks[-1] + 1])
                at = np.searchsorted(found.chunks, chunks[begin:end])
                same = np.flatnonzero(found.chunks[at] == chunks[begin:end])
                scores = word.weights[term] * self.query.saturation(
                    found.frequencies[at[same]], found.lengths[at[same]]
                )
                gained[begin + same] = np.maximum(scores, gained[begin + same])
        return gained

    def _scored(self, word: WeightedWord) -> tuple[Int64s, Floats]:
        """Returns every allowed chunk that has the word, in order, and what the word adds to it."""
        all_chunks: list[Int64s] = []
        all_scores: list[Floats] = []
        for term, weight in word.weights.items():
            header = self.lists.headers[term]
            for found in self._read(term, self.limits.blocks(header.first, header.last)):
                all_chunks.append(found.chunks)
                all_scores.append(weight * self.query.saturation(found.frequencies, found.lengths))
        if not all_chunks:
            return np.empty(0, np.int64), np.empty(0)
        chunks, scores = np.concatenate(all_chunks), np.concatenate(all_scores)
        if self.limits.documents is not None or self.limits.banned is not None:
            allowed = self.limits.allowed(chunks)
            chunks, scores = chunks[allowed], scores[allowed]
        return _summed(chunks, scores, np.maximum)

    def _read(self, term: str, positions: NDArray[np.intp]) -> list[Postings]:
        """Returns the blocks at these positions, concatenated where one begins after the end of another.

        The result is kept, because later look-ups of chunks need most of these blocks.
        """
        place = term, positions.tobytes()
        if (known := self._rows.get(place)) is not None:
            return known
        rows: list[list[Postings]] = []
        for position in positions.tolist():
            block = self.lists.block(term, position)
            row = next((row for row in rows[-_ROWS:] if row[-1].chunks[-1] < block.chunks[0]), None)
            if row is None:
                rows.append([block])
            else:
                row.append(block)
        self._rows[place] = found = [concatenated(row) if len(row) > 1 else row[0] for row in rows]
        return found

    async def _load_some(self, order: Sequence[WeightedWord], place: int) -> int:
        """Loads all blocks of this word, and of as many next ones as one statement takes; returns where it stopped."""
        postings = 0
        wanted: dict[str, NDArray[np.intp]] = {}
        for end in range(place, len(order)):
            postings += self._postings(order[end])
            if postings > self.together and end > place:
                break
            for term in order[end].weights:
                header = self.lists.headers[term]
                wanted[term] = self.limits.blocks(header.first, header.last)
        else:
            end = len(order)
        await self.lists.load(wanted)
        return end

    def _postings(self, word: WeightedWord) -> int:
        return sum(self.lists.headers[term].frequency for term in word.weights)

    def _bound(self, word: WeightedWord) -> float:
        """Returns the most that the word adds to a chunk."""
        bound = 0.0
        for term, weight in word.weights.items():
            header = self.lists.headers[term]
            some = self.limits.blocks(header.first, header.last)
            if len(some):
                most = self.query.saturation(header.max_frequency[some], header.min_length[some]).max()
                bound = max(bound, weight * float(most))
        return bound


def contains(those: Int64s, wanted: Int64s) -> NDArray[np.bool_]:
    """Returns for each wanted number whether it is among `those`, which are sorted."""
    if not len(those):
        return np.zeros(len(wanted), bool)
    at = np.searchsorted(those, wanted)
    at[at == len(those)] = 0
    return np.equal(those[at], wanted)


def _added(one: tuple[Int64s, Floats], other: tuple[Int64s, Floats]) -> tuple[Int64s, Floats]:
    if not len(one[0]):
        return other
    return _summed(np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]]), np.add)


def _summed(chunks: Int64s, scores: Floats, combine: np.ufunc) -> tuple[Int64s, Floats]:
    """Combines the scores of each chunk; returns the chunks sorted."""
    if len(chunks) > 1 and not (chunks[1:] > chunks[:-1]).all():
        order = np.argsort(chunks, kind="stable")
        chunks, scores = chunks[order], scores[order]
        starts = np.flatnonzero(np.concatenate([[True], chunks[1:] != chunks[:-1]]))
        if len(starts) < len(chunks):
            chunks, scores = chunks[starts], combine.reduceat(scores, starts)
    return chunks, scores


def _kth(scores: Floats, k: int) -> float:
    return float(np.partition(scores, len(scores) - k)[len(scores) - k]) if len(scores) >= k else 0.0


def _ranked(chunks: Int64s, scores: Floats, k: int) -> RankedChunks:
    near = np.flatnonzero(scores >= _kth(scores, k))
    order = near[np.lexsort((chunks[near], -scores[near]))][:k]
    return RankedChunks(chunks[order], scores[order])


async def _apart(postings: int, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Runs the work, in another thread if there are many postings."""
    if postings < _OFF_LOOP:
        return work(*args, **kwargs)
    return await asyncio.to_thread(work, *args, **kwargs)
