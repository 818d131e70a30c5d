"""The dense leg: the nearest vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from inference.embeddings import EmbeddingSpace
from retrieval.dense.nearest import Nearest
from retrieval.dense.plan import Sizes, choose, shared_vectors
from retrieval.dense.query_vectors import QueryVectors
from retrieval.ranking.features import Columns, Feature
from retrieval.reading.leg import Leg, SearchLimits
from retrieval.reading.vectors import Vector, cosines


class DenseLeg(Leg):
    """Ranks by the cosine with `vector`, the query's vector in `vector_space`; None until it is made."""

    kind = "dense"
    weight: ClassVar[float | None] = 1.0
    score: ClassVar[str | None] = "cosine"
    every_wording = True
    columns: ClassVar[Sequence[Feature]] = (Feature("cosine", 1.0, elsewhere=0.3),)
    vector: Vector | None = None
    vector_space: EmbeddingSpace

    def __init__(self, vectors: QueryVectors, limits: SearchLimits) -> None:
        super().__init__(limits.dense_seconds)
        self.vectors, self.limits = vectors, limits

    @property
    def void(self) -> bool:
        return super().void and self.vector is None  # else the chunks of other legs can still be compared

    async def find(self) -> None:
        if await self._embed(self.leg_query.query.text):
            await self._nearest()

    async def features(self, chunks: Sequence[int]) -> Columns:
        if self.vector is None:
            return {}
        rows = await self.leg_query.snapshot.candidates.of(chunks)
        vectors = [rows[chunk].vector if chunk in rows else None for chunk in chunks]
        return {self.columns[0].name: cosines(self.vector, vectors)}

    async def _embed(self, text: str) -> bool:
        """Makes the vector; returns False, and fails, if the active space's model is no longer configured."""
        leg_query, embedders = self.leg_query, self.vectors.embedders
        embedder = embedders.find(*leg_query.space) if leg_query.space else embedders.default
        if embedder is None:
            model, dims = leg_query.space or ("", 0)
            self.error = f"the embedding model {model} ({dims} dimensions) is no longer configured"
            return False
        self.vector_space, self.vector = embedder.space, await self.vectors.of_query(text, embedder)
        return True

    async def _nearest(self) -> None:
        """Searches exactly or with HNSW, whichever is cheaper; falls back to exact if HNSW finds too few."""
        leg_query, limits, vector, space = self.leg_query, self.limits, self.vector, self.vector_space
        assert vector is not None, "it is made first"
        chunks, index_bytes = leg_query.snapshot.state.chunks, leg_query.snapshot.state.index_bytes
        matching = chunks if leg_query.scope is None else leg_query.scope.chunks
        sizes = Sizes(matching, chunks, shared_vectors(index_bytes, space.dims))
        wanted = max(leg_query.depth, leg_query.snapshot.store.ef_search)
        plan = choose(sizes, wanted, limits.hnsw_tuple_cost, limits.exact_scan)
        async with leg_query.snapshot.beside() as reader:
            nearest = Nearest(reader, vector, space, leg_query.scope, leg_query.depth)
            if plan.exact:
                self.found, self.method = await nearest.exact(chunks), f"exact: {plan.why}"
                return
            self.found, self.method = await nearest.approximate(plan), f"hnsw: {plan.why}"
            if (came := len(self.found)) < min(leg_query.depth, matching):
                self.found = await nearest.exact(chunks)
                self.method += f"; it gave {came} of {leg_query.depth}, so exact"
