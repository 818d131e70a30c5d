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

MOST_BY_RANGE = 0.5  # share of the workspace's chunks; above it, all are read and each is checked against the filter


class NearestSql(Statements, file="nearest.sql", model="{model}", dims="{dims}", read="{read}"):
    """Nearest neighbours; `approximate` takes the model, the dimensions and the rows to read as literals."""

    exact: LiteralString
    exact_in_documents: LiteralString
    approximate: LiteralString


class Nearest:
    """Finds the chunks whose vectors in `space` are nearest to `vector`, best first, at most `limit`."""

    def __init__(
        self, reader: IndexReader, vector: Vector, space: EmbeddingSpace, scope: Scope | None, limit: int
    ) -> None:
        self.reader, self.space, self.scope, self.limit = reader, space, scope, limit
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
        statement = sql.SQL(NearestSql.approximate).format(
            model=sql.Literal(self.space.model),
            dims=sql.Literal(self.space.dims),
            read=sql.Literal(max(self.limit, plan.at_least)),
        )
        configured = {"most_compared": plan.most_compared, "candidates": plan.candidates}
        values = self.values | configured | {"workspace_id": self.reader.workspace_id}
        return [ScoredChunk(*row) for row in await (await self.reader.connection.execute(statement, values)).fetchall()]
