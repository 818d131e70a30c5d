"""Makes the vectors that chunks lack in an embedding space, a batch at a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from uuid import UUID

import numpy as np
import psycopg
from numpy.typing import NDArray

from contracts.embedding_spaces import SpaceStatus
from contracts.events import DocumentIndexed
from contracts.ingestion import embedding_text
from inference.embeddings import Embedder
from inference.errors import ContextTooLong
from retrieval.reading.state import lock_documents, raise_generation
from retrieval.reading.vectors import vector_array
from retrieval.spaces.leases import Claimed, Leases
from retrieval.spaces.rows import MissingChunk, SpaceRows
from retrieval.spaces.switch import switch
from service_kit.outbox import Outbox
from service_kit.postgres import Database

SMOOTHING = 0.2  # of the rate: the weight of the last batch


class Filling:
    """Works on one claimed space."""

    def __init__(self, database: Database, leases: Leases, outbox: Outbox, space: Claimed) -> None:
        self.database, self.leases, self.outbox, self.space = database, leases, outbox, space
        self.rate = space.rate

    async def run(self, embedder: Embedder, batch: int, seconds: float) -> None:
        """Works for about `seconds`, or until the space is complete or another builder's. Raises EmbeddingError."""
        stop = time.monotonic() + seconds
        while await self._fill(embedder, batch, stop):
            if await self._finish():
                return  # else a document was written meanwhile

    async def _fill(self, embedder: Embedder, batch: int, stop: float) -> bool:
        """Returns False when the time is over or the space another builder's, else True: every chunk was looked at."""
        after = 0
        while time.monotonic() < stop:
            started = time.monotonic()
            missing = await self._missing(after, batch)
            if missing:
                texts = [embedding_text(one.heading_path, one.content) for one in missing]
                vectors = await embed(texts, embedder)
                self._measure(len(missing), time.monotonic() - started)
                if not await self._write(missing, vectors):
                    return False
                after = missing[-1].number
            if len(missing) < batch:
                return True
        return False

    async def _missing(self, after: int, limit: int) -> list[MissingChunk]:
        async with self.database.workspace(self.space.workspace_id) as connection:
            return await SpaceRows(connection, self.space.workspace_id).missing_chunks(self.space.key, after, limit)

    async def _write(self, missing: Sequence[MissingChunk], vectors: NDArray[np.float32]) -> bool:
        """Returns False when the space is another builder's. Publishes which documents the active space completes."""
        text = await asyncio.to_thread(vector_array, vectors)
        place = self.space.workspace_id
        documents = list({one.document_id for one in missing})
        async with self.database.workspace(place) as connection:
            await connection.execute("SELECT is_living(%s)", (place,))  # the workspace's lock, before the documents'
            await lock_documents(connection, place, documents)
            if not await self.leases.hold(connection, self.space, worked=True, rate=self.rate):
                return False
            rows = SpaceRows(connection, place)
            await rows.fill(self.space.key, [one.number for one in missing], text)
            if self.space.status == SpaceStatus.active:
                await self._tell_complete(rows, documents)
                await raise_generation(connection, place)
        return True

    async def _tell_complete(self, rows: SpaceRows, documents: list[UUID]) -> None:
        for document in await rows.complete_documents(documents, self.space.key):
            done = DocumentIndexed(
                document_id=document.document_id,
                version=document.version,
                chunk_count=document.chunk_count,
                vectors=document.chunk_count,
            )
            await self.outbox.write(rows.connection, rows.workspace_id, done, str(document.document_id))

    async def _finish(self) -> bool:
        """Counts, while nobody writes, and makes the space what it was to become. False when vectors are lacking."""
        try:
            async with self.database.workspace(self.space.workspace_id) as connection:
                rows = SpaceRows(connection, self.space.workspace_id)
                await rows.lock_workspace()
                row = await rows.find(self.space.id)
                if row is None or not await self.leases.hold(connection, self.space, worked=True):
                    return True
                if row.activate:
                    return await switch(rows, row, self.outbox)
                if await rows.missing(row.key):
                    return False
                await rows.change(row, SpaceStatus.active if row.status is SpaceStatus.active else SpaceStatus.ready)
        except psycopg.errors.LockNotAvailable:
            return False
        return True

    def _measure(self, count: int, seconds: float) -> None:
        rate = count / max(seconds, 1e-3)
        self.rate = rate if self.rate is None else (1 - SMOOTHING) * self.rate + SMOOTHING * rate


async def embed(texts: Sequence[str], embedder: Embedder) -> NDArray[np.float32]:
    """A row per text; of a text that the provider refuses as too long, as much of its beginning as it takes."""
    try:
        return await embedder.embed(texts)
    except ContextTooLong:
        if len(texts) > 1:
            return np.concatenate([await embed([text], embedder) for text in texts])
        if len(texts[0]) < 2:
            raise
        return await embed([texts[0][: len(texts[0]) // 2]], embedder)
