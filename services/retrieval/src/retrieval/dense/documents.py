"""Whole documents: the nearest by the vectors of their own, and the passages of theirs that are nearest."""

from __future__ import annotations

from dataclasses import dataclass, field

from psycopg import sql

from inference.embeddings import EmbeddingSpace
from retrieval.dense.nearest import FOR_ALL_ELSE, FOR_THIS_SCAN
from retrieval.dense.plan import Plan, Sizes, choose, shared_vectors
from retrieval.dense.query_vectors import Vector
from retrieval.index.rows import vector_text
from retrieval.search.reader import QUERIES, IndexReader, Scored, array_text
from retrieval.search.scope import Scope

NEAREST = 20  # documents
EACH = 2  # passages of each
CANDIDATES = 100  # of the approximate scan


@dataclass(frozen=True)
class NearDocuments:
    """`scores`: cosines by document, the nearest first. `passages`: the nearest of each. `method` is for explain."""

    scores: dict[int, float] = field(default_factory=dict)
    passages: list[Scored] = field(default_factory=list)
    method: str = ""

    def rank(self, document: int) -> int | None:
        """From 1; None of one that is not among the nearest."""
        return next((rank for rank, one in enumerate(self.scores, 1) if one == document), None)


async def near_documents(
    reader: IndexReader,
    vector: Vector,
    space: EmbeddingSpace,
    scope: Scope | None,
    tuple_cost: float,
    always_exact: int,
) -> NearDocuments:
    """Of the scope. Exactly or by HNSW, as it is with chunks; exactly also when HNSW gives fewer than there are."""
    values: dict[str, object] = {"vector": vector_text(vector), "model": space.model, "dims": space.dims}
    every, index_bytes = await reader.row("document_sizes", model=space.model, dims=space.dims)
    matching = every if scope is None else len(scope.documents)
    sizes = Sizes(matching, every, shared_vectors(index_bytes, space.dims), "documents")
    plan = choose(sizes, CANDIDATES, tuple_cost, always_exact)
    within = None if scope is None else array_text(scope.documents.tolist())
    asked = values | {"documents": within, "limit": NEAREST}
    rows = [] if plan.exact else await _approximate(reader, plan, space, asked)
    if plan.exact or len(rows) < min(NEAREST, matching):
        rows = await reader.rows("documents_exact", **asked)
    best = {"documents": array_text(document for document, _ in rows), "each": EACH}
    passages = await reader.scored(QUERIES["best_of_documents"], **values, **best) if rows else []
    return NearDocuments(dict(rows), passages, f"{'exact' if plan.exact else 'hnsw'}: {plan.why}")


async def _approximate(
    reader: IndexReader, plan: Plan, space: EmbeddingSpace, asked: dict[str, object]
) -> list[tuple[int, float]]:
    literals = {"model": sql.Literal(space.model), "dims": sql.Literal(space.dims)}
    statement = sql.SQL(QUERIES["documents_hnsw"]).format(**literals)
    configured = {"most_visited": plan.most_visited, "candidates": plan.candidates}
    async with reader.connection.pipeline():
        await reader.connection.execute(QUERIES["configure_hnsw"], configured | FOR_THIS_SCAN)
        nearest = await reader.connection.execute(statement, asked | {"workspace_id": reader.workspace_id})
        await reader.connection.execute(QUERIES["configure_hnsw"], configured | FOR_ALL_ELSE)
    return [(document, score) for document, score in await nearest.fetchall()]
