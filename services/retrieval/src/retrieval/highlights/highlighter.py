"""Finds the sentences of hits that answer the query, comparing their meaning if there is time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from inference.errors import EmbeddingError
from relevance.analysis import Analyzer
from retrieval.dense.leg import DenseLeg
from retrieval.highlights import scoring
from retrieval.highlights.scoring import ScoredSpan, Sentence
from retrieval.reading.reader import IndexedChunk
from service_kit.sentences import Span

NOT_COMPARED = "sentences not compared"


class Highlighter:
    """Finds the spans that answer best."""

    def __init__(self, analyzer: Analyzer, seconds: float) -> None:
        self.analyzer, self.seconds = analyzer, seconds

    async def __call__(
        self, chunks: Sequence[IndexedChunk], weights: Mapping[str, float], dense: DenseLeg | None
    ) -> dict[int, list[ScoredSpan]]:
        """Returns spans by chunk, best first; terms alone decide if sentences cannot be embedded in time."""
        by_hit = await asyncio.to_thread(self._sentences, chunks, weights)
        cosines = await self._cosines(by_hit, dense) if dense else {}
        return {chunk.number: scoring.best(by_hit[rank], cosines) for rank, chunk in enumerate(chunks)}

    def _sentences(self, chunks: Sequence[IndexedChunk], weights: Mapping[str, float]) -> list[list[Sentence]]:
        """Splits up to a hundred chunks into sentences. Call it in a thread: it would block the event loop."""
        return [scoring.sentences_of(rank, chunk, weights, self.analyzer) for rank, chunk in enumerate(chunks)]

    async def _cosines(self, by_hit: Sequence[Sequence[Sentence]], dense: DenseLeg) -> dict[tuple[int, Span], float]:
        chosen = scoring.to_embed(by_hit)
        if dense.vector is None or dense.embedder is None or not chosen:
            return {}
        try:
            async with asyncio.timeout(self.seconds):
                vectors = await dense.embedder.embed([one.read for one in chosen])
        except (EmbeddingError, TimeoutError) as error:
            dense.method = f"{dense.method}; {NOT_COMPARED}: {type(error).__name__}"
            return {}
        values = (vectors @ dense.vector).tolist()
        return {(one.hit, one.span): value for one, value in zip(chosen, values, strict=True)}
