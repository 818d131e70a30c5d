"""The dense leg: the nearest vectors."""

from __future__ import annotations

from inference.embeddings import Embedder
from retrieval.dense.nearest import Nearest
from retrieval.dense.plan import Sizes, choose, shared_vectors
from retrieval.reading.leg import Leg, LegQuery, SearchLimits
from retrieval.reading.reader import IndexReader
from retrieval.reading.vectors import Vector


class DenseLeg(Leg):
    """Ranks by the cosine with `vector`, the query's vector from `embedder`."""

    vector: Vector | None = None
    embedder: Embedder | None = None

    async def run(self, reader: IndexReader, asked: LegQuery, limits: SearchLimits) -> None:
        """Searches exactly or with HNSW, whichever is cheaper; falls back to exact if HNSW finds too few."""
        assert self.vector is not None
        assert self.embedder is not None
        space, scope = self.embedder.space, asked.scope
        chunks, index_bytes = asked.snapshot.state.chunks, asked.snapshot.state.index_bytes
        matching = chunks if scope is None else scope.chunks
        sizes = Sizes(matching, chunks, shared_vectors(index_bytes, space.dims))
        wanted = max(asked.depth, asked.snapshot.store.ef_search)
        plan = choose(sizes, wanted, limits.hnsw_tuple_cost, limits.exact_scan)
        nearest = Nearest(reader, self.vector, space, scope, asked.depth)
        if plan.exact:
            self.found, self.method = await nearest.exact(chunks), f"exact: {plan.why}"
            return
        self.found, self.method = await nearest.approximate(plan), f"hnsw: {plan.why}"
        if (came := len(self.found)) < min(asked.depth, matching):
            self.found = await nearest.exact(chunks)
            self.method += f"; it gave {came} of {asked.depth}, so exact"
