"""Every statement of a search. It reads one workspace, within one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import LiteralString
from uuid import UUID

from psycopg import sql
from psycopg.rows import class_row

from inference.embedders import SpaceKey
from inference.embeddings import EmbeddingSpace
from retrieval.dense.query_vectors import Vector
from retrieval.index.rows import vector_text
from retrieval.lexical.bm25 import K1, B, WeightedQuery
from service_kit.postgres import Connection
from service_kit.queries import load

QUERIES = load("retrieval")


@dataclass(frozen=True)
class Scored:
    """A chunk that a leg found."""

    chunk: int
    score: float


@dataclass(frozen=True)
class Scope:
    """What a filter left: its documents' numbers and how many chunks they have."""

    documents: list[int]
    chunks: int


@dataclass(frozen=True)
class FoundChunk:
    number: int
    chunk_id: str
    document_id: UUID
    document_name: str
    document_title: str | None
    media_type: str
    content: str
    section_title: str | None
    heading_path: list[str]
    chunk_index: int
    page: int | None
    page_end: int | None
    box: list[float] | None
    line_start: int | None
    line_end: int | None


class IndexReader:
    """Reads the index of one workspace, within one transaction."""

    def __init__(self, connection: Connection, workspace_id: UUID) -> None:
        self.connection, self.workspace_id = connection, workspace_id

    async def size(self) -> tuple[int, int]:
        """(chunks, terms) of the workspace."""
        rows = await self._rows("workspace_size")
        return (rows[0][0], rows[0][1]) if rows else (0, 0)

    async def space(self) -> SpaceKey | None:
        """(model, dims) of the space that the workspace is searched in."""
        rows = await self._rows("active_space")
        return (rows[0][0], rows[0][1]) if rows else None

    async def scope(
        self,
        document_ids: Sequence[UUID] | None = None,
        media_types: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
    ) -> Scope:
        """Resolves a filter; None is no filter, an empty list leaves nothing."""
        filters = {"document_ids": document_ids, "media_types": media_types, "tags": tags}
        values = {name: None if wanted is None else list(wanted) for name, wanted in filters.items()}
        return Scope(*(await self._rows("filter_documents", **values))[0])

    async def rarest(self, terms: Sequence[str], keep: int, ceiling: int) -> list[str]:
        """The `keep` known terms that the fewest chunks have; beyond `ceiling` chunks all count as equally frequent."""
        return [row[0] for row in await self._rows("rarest_terms", terms=list(terms), keep=keep, ceiling=ceiling)]

    async def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """How many chunks have each term; unknown terms are left out."""
        return dict(await self._rows("term_frequencies", terms=list(terms)))

    async def lexical(self, query: WeightedQuery, scope: Scope | None, limit: int) -> list[Scored]:
        """The best chunks by BM25, best first."""
        return await self._scored(
            QUERIES["lexical"],
            terms=query.terms,
            weights=[query.weights[term] for term in query.terms],
            average=query.average_length,
            k1=K1,
            b=B,
            documents=scope and scope.documents,
            limit=limit,
        )

    async def dense(
        self, vector: Vector, space: EmbeddingSpace, scope: Scope | None, limit: int, *, exact: bool
    ) -> list[Scored]:
        """The nearest chunks by cosine, best first, among those with a vector of this embedding space."""
        statement: sql.Composed | LiteralString = QUERIES["dense_exact"]
        if not exact:
            literals = {"model": sql.Literal(space.model), "dims": sql.Literal(space.dims)}
            statement = sql.SQL(QUERIES["dense_hnsw"]).format(**literals)
        return await self._scored(
            statement,
            vector=vector_text(vector),
            model=space.model,
            dims=space.dims,
            documents=scope and scope.documents,
            limit=limit,
        )

    async def terms_of(self, chunks: Sequence[int], terms: Sequence[str]) -> dict[int, dict[str, tuple[int, int]]]:
        """By chunk: (frequency, chunk length) of each of the terms that it has."""
        found: dict[int, dict[str, tuple[int, int]]] = {chunk: {} for chunk in chunks}
        for chunk, term, frequency, length in await self._rows(
            "candidate_terms", chunks=list(chunks), terms=list(terms)
        ):
            found[chunk][term] = (frequency, length)
        return found

    async def cosines_of(self, chunks: Sequence[int], vector: Vector, space: EmbeddingSpace) -> dict[int, float]:
        """By chunk; those without a vector of this embedding space are left out."""
        return dict(
            await self._rows(
                "candidate_cosines",
                chunks=list(chunks),
                vector=vector_text(vector),
                model=space.model,
                dims=space.dims,
            )
        )

    async def titles_of(self, chunks: Sequence[int]) -> dict[int, list[str]]:
        """By chunk: the terms of its document's title."""
        return dict(await self._rows("candidate_titles", chunks=list(chunks)))

    async def chunks(self, numbers: Sequence[int]) -> dict[int, FoundChunk]:
        """By number; a chunk that was removed since is left out."""
        async with self.connection.cursor(row_factory=class_row(FoundChunk)) as cursor:
            await cursor.execute(QUERIES["load_chunks"], {"workspace_id": self.workspace_id, "chunks": list(numbers)})
            return {chunk.number: chunk async for chunk in cursor}

    async def _rows(self, name: str, **values: object) -> list[tuple]:  # type: ignore[type-arg]
        cursor = await self.connection.execute(QUERIES[name], {"workspace_id": self.workspace_id, **values})
        return await cursor.fetchall()

    async def _scored(self, statement: sql.Composed | LiteralString, **values: object) -> list[Scored]:
        async with self.connection.cursor(row_factory=class_row(Scored)) as cursor:
            await cursor.execute(statement, {"workspace_id": self.workspace_id, **values})
            return await cursor.fetchall()
