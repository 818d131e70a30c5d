"""Reranks the best fused candidates with the configured model, within a deadline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inference.rerank import Reranker
from retrieval.reading.leg import Timed
from retrieval.reading.reader import IndexedChunk, ScoredChunk


@dataclass(frozen=True)
class Reranking:
    """Reranks at most `candidates` chunks, within `seconds`."""

    reranker: Reranker
    seconds: float
    candidates: int

    async def __call__(self, query: str, order: Sequence[int], chunks: Mapping[int, IndexedChunk]) -> Timed:
        """Returns `order` as the model ranks it, or an error and no chunks."""
        leg = Timed("rerank", method=self.reranker.model)

        async def work() -> None:
            scores = await self.reranker.rerank(query, [_read(chunks[chunk]) for chunk in order])
            scored = [ScoredChunk(chunk, score) for chunk, score in zip(order, scores, strict=True)]
            leg.found = sorted(scored, key=lambda one: -one.score)

        await leg.within(self.seconds, work)
        return leg


def _read(chunk: IndexedChunk) -> str:
    """Returns the chunk under its headings, as a reader sees it."""
    return "\n".join(filter(None, [" > ".join(chunk.heading_path), chunk.content]))
