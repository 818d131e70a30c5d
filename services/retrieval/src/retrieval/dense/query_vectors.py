"""A cache of query vectors, and the batches in which the others are made."""

from __future__ import annotations

import asyncio

from inference.embedders import Embedders
from inference.embeddings import Embedder
from inference.errors import EmbeddingError
from retrieval.reading.vectors import Vector
from service_kit.recent_values import RecentValues

MOST_TOGETHER = 8  # texts of a batch; more take as long for each
AT_ONCE = 2  # batches, so that one slow answer of a provider keeps no other query waiting


class QueryVectors:
    """Embeds queries with the model that a workspace is searched with; the last few are remembered."""

    def __init__(self, embedders: Embedders) -> None:
        self.embedders = embedders
        self.known = RecentValues[Vector]()
        self.batches: dict[tuple[str, int], QueryBatches] = {}

    async def of_query(self, query: str, embedder: Embedder) -> Vector:
        """Returns a unit vector. Raises EmbeddingError."""
        space = (embedder.space.model, embedder.space.dims)
        key = (*space, query)
        vector = self.known.get(key)
        if vector is None:
            vector = await self.batches.setdefault(space, QueryBatches(embedder)).vector(query)
            self.known.put(key, vector)
        return vector


class QueryBatches:
    """Embeds together what is asked for at the same time, or while AT_ONCE batches are being embedded: the wordings of
    one query, and the queries of several searches, in one request to a provider.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._open: QueryBatch | None = None

    async def vector(self, text: str) -> Vector:
        """Returns the text's vector. Raises EmbeddingError."""
        batch = self._open
        if batch is None or len(batch.texts) == MOST_TOGETHER:
            batch = self._open = QueryBatch()
            batch.task = asyncio.create_task(self._embedded(batch))
        batch.texts[text] = None
        found = (await asyncio.shield(batch.task))[text]  # the others still wait if this search ends
        if isinstance(found, EmbeddingError):
            raise found
        return found

    async def _embedded(self, batch: QueryBatch) -> dict[str, Vector | EmbeddingError]:
        async with self._turns:
            if self._open is batch:
                self._open = None
            texts = list(batch.texts)
            try:
                return dict(zip(texts, await self.embedder.embed(texts), strict=True))
            except EmbeddingError as error:
                # One of several may be the reason.
                return {text: await self._alone(text) if len(texts) > 1 else error for text in texts}

    async def _alone(self, text: str) -> Vector | EmbeddingError:
        try:
            vector: Vector = (await self.embedder.embed([text]))[0]
        except EmbeddingError as error:
            return error
        return vector


class QueryBatch:
    """Texts to embed, without repeats, and the task that does."""

    def __init__(self) -> None:
        self.texts: dict[str, None] = {}
        self.task: asyncio.Task[dict[str, Vector | EmbeddingError]]
