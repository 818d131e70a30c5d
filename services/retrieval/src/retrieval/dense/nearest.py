"""Nearest neighbours in the database."""

from __future__ import annotations

from typing import LiteralString

from psycopg import sql

from inference.embeddings import EmbeddingSpace
from retrieval.dense.plan import ScanPlan
from retrieval.reading.arrays import array_text
from retrieval.reading.reader import IndexReader, ScoredChunk
from retrieval.reading.scope import Scope
from retrieval.reading.vectors import Vector, vector_text
from service_kit.statements import Statements

# A plan that sorts is slow. Neither a wrong estimate of what passes the filter nor a generic plan, which does not know
# the limit, must lead to one.
FOR_THIS_SCAN = {"sorting": "off", "planning": "force_custom_plan"}
FOR_ALL_ELSE = {"sorting": "on", "planning": "auto"}
MOST_BY_RANGE = 0.5  # share of the workspace's chunks; above it, all are read and each is checked against the filter


class NearestSql(Statements, file="nearest.sql", model="{model}", dims="{dims}"):
    """Nearest neighbours; `approximate` takes the model and the dimensions as literals when it is sent."""

    exact: LiteralString
    exact_in_documents: LiteralString
    approximate: LiteralString
    configure: LiteralString


class Nearest:
    """Finds the chunks whose vectors in `space` are nearest to `vector`, best first, at most `limit`."""

    def __init__(
        self, reader: IndexReader, vector: Vector, space: EmbeddingSpace, scope: Scope | None, limit: int
    ) -> None:
        self.reader, self.space, self.scope = reader, space, scope
        self.values = {
            "vector": vector_text(vector),
            "model": space.model,
            "dims": space.dims,
            "limit": limit,
            "bitmap": None if scope is None else scope.bitmap,
            "first": 0 if scope is None else scope.first,
        }

    async def exact(self, workspace_chunks: int) -> list[ScoredChunk]:
        """Compares every vector that passes the filter."""
        if self.scope is not None and self.scope.chunks < MOST_BY_RANGE * workspace_chunks:
            documents = {"documents": array_text(self.scope.documents.tolist())}
            return await self.reader.all(NearestSql.exact_in_documents, ScoredChunk, **self.values, **documents)
        return await self.reader.all(NearestSql.exact, ScoredChunk, **self.values)

    async def approximate(self, plan: ScanPlan) -> list[ScoredChunk]:
        """Returns what the index finds within the planned number of comparisons, which may be fewer than exist."""
        literals = {"model": sql.Literal(self.space.model), "dims": sql.Literal(self.space.dims)}
        statement = sql.SQL(NearestSql.approximate).format(**literals)
        configured = {"most_compared": plan.most_compared, "candidates": plan.candidates}
        async with self.reader.connection.pipeline():
            await self.reader.connection.execute(NearestSql.configure, configured | FOR_THIS_SCAN)
            values = self.values | {"workspace_id": self.reader.workspace_id, "at_least": plan.at_least}
            nearest = await self.reader.connection.execute(statement, values)
            await self.reader.connection.execute(NearestSql.configure, configured | FOR_ALL_ELSE)
        return [ScoredChunk(*row) for row in await nearest.fetchall()]
