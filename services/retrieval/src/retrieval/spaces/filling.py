"""Makes the vectors that an embedding space lacks, a batch at a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import numpy as np
import psycopg
from numpy.typing import NDArray

from contracts.embedding_spaces import SpaceStatus
from contracts.ingestion import embedding_text
from inference.embeddings import Embedder
from inference.errors import ContextTooLong
from retrieval.reading.state import lock_documents, raise_generation
from retrieval.reading.vectors import vector_array
from retrieval.spaces.rows import LeasedSpace, MissingChunk, SpaceRows
from retrieval.spaces.switch import publish_indexed, switch
from service_kit.outbox import Outbox
from service_kit.postgres import Connection, Database
from service_kit.work import WorkQueue

SMOOTHING = 0.2  # weight of the last batch in the rate


class Filling:
    """Fills one leased space."""

    def __init__(self, database: Database, queue: WorkQueue[LeasedSpace], outbox: Outbox, space: LeasedSpace) -> None:
        self.database, self.queue, self.outbox, self.space = database, queue, outbox, space
        self.rate = space.rate

    async def run(self, embedder: Embedder, batch: int, seconds: float) -> bool:
        """Works for about `seconds`; returns whether the space is complete. Raises EmbeddingError, LeaseLost."""
        stop = time.monotonic() + seconds
        while await self._fill(embedder, batch, stop):
            if await self._finish():
                return True  # otherwise a document was written meanwhile
        return False

    async def _fill(self, embedder: Embedder, batch: int, stop: float) -> bool:
        """Returns True once every chunk was checked, False if the time ran out."""
        after = 0
        while time.monotonic() < stop:
            started = time.monotonic()
            missing = await self._missing(after, batch)
            if missing:
                vectors = await embed([embedding_text(one.heading_path, one.content) for one in missing], embedder)
                self._measure(len(missing), time.monotonic() - started)
                await self._write(missing, vectors)
                after = missing[-1].number
            if len(missing) < batch:
                return True
        return False

    async def _missing(self, after: int, limit: int) -> list[MissingChunk]:
        async with self.database.workspace(self.space.workspace_id) as connection:
            return await SpaceRows(connection, self.space.workspace_id).missing_chunks(self.space.key, after, limit)

    async def _write(self, missing: Sequence[MissingChunk], vectors: NDArray[np.float32]) -> None:
        """Writes the vectors; if the space is active, publishes the completed documents. Raises LeaseLost."""
        text = await asyncio.to_thread(vector_array, vectors)
        place = self.space.workspace_id
        documents = list({one.document_id for one in missing})
        async with self.database.workspace(place) as connection:
            await connection.execute("SELECT is_living(%s)", (place,))  # the workspace's lock, before the documents'
            await lock_documents(connection, place, documents)
            await self._extend(connection)
            rows = SpaceRows(connection, place)
            await rows.fill(self.space.key, [one.number for one in missing], text)
            if self.space.status == SpaceStatus.active:
                counted = await rows.documents(documents, self.space.key)
                await publish_indexed(rows, [one for one in counted if one.vectors == one.chunk_count], self.outbox)
                await raise_generation(connection, place)

    async def _finish(self) -> bool:
        """Sets the space's new status while no one writes; returns False if that must wait or vectors are missing."""
        try:
            async with self.database.workspace(self.space.workspace_id) as connection:
                rows = SpaceRows(connection, self.space.workspace_id)
                await rows.lock_workspace()
                row = await rows.find(self.space.id)
                await self._extend(connection)
                assert row is not None, "the lease is on the row"
                if row.activate:
                    return await switch(rows, row, self.outbox)
                if not await rows.is_complete(row.key):
                    return False
                await rows.change(row, SpaceStatus.active if row.status is SpaceStatus.active else SpaceStatus.ready)
        except psycopg.errors.LockNotAvailable:
            return False
        return True

    async def _extend(self, connection: Connection) -> None:
        """Extends the lease and clears the error of an earlier attempt. Raises LeaseLost."""
        status = SpaceStatus.building if self.space.status == SpaceStatus.failed else self.space.status
        cleared = {"error_class": None, "error_message": None, "attempts": 1}
        await self.queue.extend(connection, self.space, rate=self.rate, status=status, **cleared)

    def _measure(self, count: int, seconds: float) -> None:
        rate = count / max(seconds, 1e-3)
        self.rate = rate if self.rate is None else (1 - SMOOTHING) * self.rate + SMOOTHING * rate


async def embed(texts: Sequence[str], embedder: Embedder) -> NDArray[np.float32]:
    """Returns a row per text; a text that the provider rejects as too long is halved until it is accepted."""
    try:
        return await embedder.embed(texts)
    except ContextTooLong:
        if len(texts) > 1:
            return np.concatenate([await embed([text], embedder) for text in texts])
        if len(texts[0]) < 2:
            raise
        return await embed([texts[0][: len(texts[0]) // 2]], embedder)
