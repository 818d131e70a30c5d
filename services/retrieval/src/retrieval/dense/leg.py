"""Meaning: the nearest vectors."""

from __future__ import annotations

from inference.embeddings import Embedder
from retrieval.dense.query_vectors import Vector
from retrieval.search.leg import Asked, Leg
from retrieval.search.reader import IndexReader


class DenseLeg(Leg):
    """Cosine of the query's vector, which is kept in `vector`, made by `embedder`."""

    vector: Vector | None = None
    embedder: Embedder | None = None

    async def run(self, reader: IndexReader, asked: Asked, exact_scan: int) -> None:
        assert self.vector is not None
        assert self.embedder is not None
        scope = asked.scope
        size = scope.chunks if scope else (await reader.size())[0]
        exact = size <= exact_scan
        self.found = await reader.dense(self.vector, self.embedder.space, scope, asked.depth, exact=exact)
        of = "chunks of the filter" if scope else "chunks"
        self.method = f"exact: {size} {of}" if exact else f"hnsw, iterative: {size} {of}, more than {exact_scan}"
