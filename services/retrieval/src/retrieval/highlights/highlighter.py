"""Finds the sentences of hits that answer the query."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from relevance.analysis import Analyzer
from relevance.soft_match import SoftMatcher
from retrieval.highlights import scoring
from retrieval.highlights.scoring import ScoredSpan
from retrieval.reading.reader import IndexedChunk


class Highlighter:
    """Finds the spans that answer best: by the query's words, and by others that are like them."""

    def __init__(self, analyzer: Analyzer, matcher: SoftMatcher) -> None:
        self.analyzer, self.matcher = analyzer, matcher

    async def __call__(
        self,
        chunks: Sequence[IndexedChunk],
        query: str,
        weights: Mapping[str, float],
        weight: Callable[[str], float],
    ) -> dict[int, list[ScoredSpan]]:
        """Returns spans by chunk, best first. `weights` are those of the query's terms, `weight` that of a word."""

        def work() -> dict[int, list[ScoredSpan]]:
            pieces = self.matcher.pieces
            by_chunk = {chunk.number: scoring.sentences_of(chunk, weights, self.analyzer) for chunk in chunks}
            texts = pieces.distinct([one.read for sentences in by_chunk.values() for one in sentences])
            likeness = iter(self.matcher.score(pieces.weighted(query, weight), texts).tolist())
            return {number: scoring.best([(one, next(likeness)) for one in by_chunk[number]]) for number in by_chunk}

        return await asyncio.to_thread(work)
