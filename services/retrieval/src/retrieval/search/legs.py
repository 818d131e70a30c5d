"""The legs of a search: each in a transaction of its own, with a deadline of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from retrieval.dense.leg import DenseLeg
from retrieval.dense.query_vectors import QueryVectors
from retrieval.lexical.analysis import Analyzer
from retrieval.lexical.leg import LexicalLeg
from retrieval.search.leg import Asked, Limits
from retrieval.search.reader import IndexReader, SearchStore


class Legs:
    """Runs the legs of a search."""

    def __init__(self, store: SearchStore, vectors: QueryVectors, analyzer: Analyzer, limits: Limits) -> None:
        self.store, self.vectors, self.analyzer, self.limits = store, vectors, analyzer, limits

    async def lexical(self, asked: Asked) -> LexicalLeg:
        leg, seconds = LexicalLeg("lexical"), self.limits.lexical_seconds

        async def work() -> None:
            async with self._reading(asked, seconds) as reader:
                await leg.run(reader, asked, self.analyzer)

        await leg.within(seconds, work)
        return leg

    async def dense(self, asked: Asked) -> DenseLeg:
        """Without an answer where the model of the workspace's active space is configured no more."""
        leg, seconds = DenseLeg("dense"), self.limits.dense_seconds
        embedders = self.vectors.embedders
        leg.embedder = embedder = embedders.find(*asked.space) if asked.space else embedders.default
        if embedder is None:
            model, dims = asked.space or ("", 0)
            leg.error = f"the embedding model {model} ({dims} dimensions) is configured no more"
            return leg

        async def work() -> None:
            leg.vector = await self.vectors.of_query(asked.query, embedder)
            async with self._reading(asked, seconds) as reader:
                await leg.run(reader, asked, self.limits.exact_scan)

        await leg.within(seconds, work)
        return leg

    @asynccontextmanager
    async def _reading(self, asked: Asked, seconds: float) -> AsyncIterator[IndexReader]:
        if asked.snapshot is not None:
            yield asked.snapshot
            return
        async with self.store.reading(asked.workspace_id, seconds) as reader:
            yield reader
