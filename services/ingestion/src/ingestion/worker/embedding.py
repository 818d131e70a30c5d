"""Embeds the chunks of a document in batches, from a thread that can be told to stop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from contracts.ingestion import Chunk
from inference.embeddings import Embedder, EmbeddingSpace
from ingestion.conversion import embedding_text
from ingestion.worker.holding import Holding

BATCH = 16
CHECK_SECONDS = 0.5


def read_chunks(path: Path) -> Iterator[Chunk]:
    """From JSON Lines, one at a time."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield Chunk.model_validate_json(line)


class ChunkEmbedder:
    """Runs an embedder's coroutines on one event loop for all threads, as its connections belong to a loop."""

    def __init__(self, embedder: Embedder, loop: asyncio.AbstractEventLoop) -> None:
        self.embedder, self.loop = embedder, loop

    @property
    def space(self) -> EmbeddingSpace:
        return self.embedder.space

    def embed(self, chunks: Path, count: int, holding: Holding) -> NDArray[np.float32]:
        """A row per chunk, in their order; raises EmbeddingError, and what `holding.check` raises."""
        vectors = np.empty((count, self.space.dims), np.float32)
        done = 0
        texts: list[str] = []
        for chunk in read_chunks(chunks):
            texts.append(embedding_text(chunk.heading_path, chunk.content))
            if len(texts) == BATCH or done + len(texts) == count:
                vectors[done : done + len(texts)] = self._batch(texts, holding)
                done += len(texts)
                texts = []
                holding.progress(done, count)
        return vectors

    def _batch(self, texts: list[str], holding: Holding) -> NDArray[np.float32]:
        future = asyncio.run_coroutine_threadsafe(self.embedder.embed(texts), self.loop)
        try:
            while True:
                try:
                    return future.result(CHECK_SECONDS)
                except FutureTimeoutError:
                    if future.done():
                        raise
                    holding.check()
        finally:
            future.cancel()


@contextmanager
def running_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="embedding", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
