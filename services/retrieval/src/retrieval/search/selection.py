"""Selects the hits from the fused order: reranks, folds duplicates, diversifies, adds surroundings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from contracts.retrieval import Around, SearchRequest, Surrounding
from relevance.duplicates import Folding
from retrieval.ranking.diversity import capped, diversified
from retrieval.reading.candidate_rows import CandidateRows
from retrieval.reading.leg import Timed
from retrieval.reading.reader import IndexedChunk, IndexReader
from retrieval.reading.vectors import Halves, Vector
from retrieval.search.reranking import Reranking
from retrieval.search.spans import Merged
from retrieval.search.surroundings import Surroundings

SPARE = 8  # additional chunks to read, in case some are folded
POOL, POOL_OF_HITS = 50, 3  # candidates to diversify: this many, or this many times the hits


@dataclass(frozen=True)
class Selected:
    """The hits, in `order`. `chunks` and `scores` include those of folded chunks. `rerank`: the reranker's report."""

    order: list[int]
    chunks: dict[int, IndexedChunk]
    scores: Mapping[int, float]
    duplicates: dict[int, list[int]] = field(default_factory=dict)
    around: dict[int, Surrounding] = field(default_factory=dict)
    rerank: Timed | None = None


class HitSelection:
    """Selects the hits of one search. `diversity` is the weight of novelty, which the vectors of `candidates` measure.

    `prepare` reads, in the search's snapshot; `selected` reads nothing, so that no connection waits for a reranker.
    """

    def __init__(
        self,
        reader: IndexReader,
        request: SearchRequest,
        candidates: CandidateRows,
        diversity: float = 0.0,
        reranking: Reranking | None = None,
    ) -> None:
        self.reader, self.request, self.candidates, self.diversity = reader, request, candidates, diversity
        self.reranking = reranking if request.rerank else None
        self.chunks: dict[int, IndexedChunk] = {}
        self.vectors: dict[int, Halves | None] = {}
        self.surroundings = Surroundings(reader, request.around)
        self.order: Sequence[int] = []
        self.scores: Mapping[int, float] = {}
        self.chosen: Selected | None = None

    async def prepare(self, order: Sequence[int], scores: Mapping[int, float]) -> None:
        """Chooses the hits from `order` (best first); before a reranker, only reads what the choice may need."""
        self.order, self.scores = order, scores
        if self.reranking is None or not order:
            self.chosen = await self._choose(order, scores)
            return
        self.order = order[: max(self.reranking.candidates, self.request.k)]
        await self.load(self.order)
        self.order = [chunk for chunk in self.order if chunk in self.chunks]
        if self.diversity:
            await self._known_vectors(self.order)
        if self.request.around is not Around.nothing:
            await self.surroundings.load([self.chunks[chunk] for chunk in self.order])

    async def selected(self) -> Selected:
        """Returns `k` hits, or fewer if there are no more."""
        if self.chosen is not None or self.reranking is None:
            return self.chosen or Selected([], {}, {})
        rerank = await self.reranking(self.request.query, self.order, self.chunks)
        order, scores = self.order, self.scores
        if rerank.found:
            order, scores = [one.chunk for one in rerank.found], {one.chunk: one.score for one in rerank.found}
        return replace(await self._choose(order, scores), rerank=rerank)

    async def _choose(self, order: Sequence[int], scores: Mapping[int, float]) -> Selected:
        stream, k = _Stream(self, order), self.request.k
        needed = max(POOL, POOL_OF_HITS * k) if self.diversity else k
        while True:
            kept = await self._varied(await stream.first(needed), scores)
            merged = Merged(kept[:k])
            if self.request.around is not Around.nothing:
                merged = await self.surroundings.merged(kept, self.chunks, k)
            if len(merged.order) >= k or stream.ends_with(needed):
                break
            needed *= 2
        around = await self.surroundings.read(merged, self.chunks, scores) if merged.spans else {}
        duplicates = _of_holders(stream.folding.folded.duplicates, merged)
        return Selected(merged.order, self.chunks, scores, duplicates, around)

    async def load(self, order: Sequence[int]) -> None:
        """Reads the chunks that were not read yet; `chunks` then lacks those that somebody has deleted out of band."""
        if missing := [chunk for chunk in order if chunk not in self.chunks]:
            self.chunks |= await self.reader.chunks(missing)

    async def _varied(self, order: list[int], scores: Mapping[int, float]) -> list[int]:
        if self.diversity:
            vectors = await self._known_vectors(order)
            order = diversified(order, scores, vectors, self.diversity, len(order))
        if self.request.max_per_document:
            documents = {chunk: self.chunks[chunk].document_id for chunk in order}
            order = capped(order, documents, self.request.max_per_document)
        return order

    async def _known_vectors(self, order: Sequence[int]) -> dict[int, Vector]:
        if missing := [chunk for chunk in order if chunk not in self.vectors]:
            rows = await self.candidates.of(missing)
            self.vectors |= {chunk: row.vector for chunk, row in rows.items()}
        known = ((chunk, self.vectors.get(chunk)) for chunk in order)
        return {chunk: vector.astype(np.float32) for chunk, vector in known if vector is not None}


class _Stream:
    """The candidates in order without near-duplicates, read only as far as needed."""

    def __init__(self, selection: HitSelection, order: Sequence[int]) -> None:
        self.selection, self.order = selection, order
        self.folding, self.kept, self.position = Folding(), list[int](), 0

    def ends_with(self, count: int) -> bool:
        """Returns whether there are at most `count` of them."""
        return self.position >= len(self.order) and len(self.kept) <= count

    async def first(self, count: int) -> list[int]:
        """Returns the first `count` of them, or all if there are fewer."""
        while len(self.kept) < count and self.position < len(self.order):
            some = self.order[self.position : self.position + count - len(self.kept) + SPARE]
            await self.selection.load(some)
            texts = {chunk: self.selection.chunks[chunk].content for chunk in some if chunk in self.selection.chunks}
            for chunk, text in texts.items():
                if not self.selection.request.fold_duplicates or self.folding.add(chunk, text) is None:
                    self.kept.append(chunk)
            self.position += len(some)
        return self.kept[:count]


def _of_holders(duplicates: Mapping[int, list[int]], merged: Merged) -> dict[int, list[int]]:
    """Returns duplicates by hit, including those of chunks that became part of it."""
    found: dict[int, list[int]] = {}
    for chunk, copies in duplicates.items():
        holder = merged.into.get(chunk, chunk)
        if holder in merged.order:
            found.setdefault(holder, []).extend(copies)
    return found
