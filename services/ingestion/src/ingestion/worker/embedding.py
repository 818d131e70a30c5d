"""Embeds texts in batches, from a thread that can be told to stop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import contextmanager
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from inference.embedders import Embedders
from inference.embeddings import Embedder

BATCH = 16
CHECK_SECONDS = 0.5


class UnknownModel(Exception):
    """The workspace is searched with a model that is not configured here."""


class Check(Protocol):
    """Raises what is to end the work."""

    def __call__(self) -> None: ...


class TextEmbedder:
    """Runs embedders' coroutines on one event loop for all threads, as their connections belong to a loop."""

    def __init__(self, embedders: Embedders, loop: asyncio.AbstractEventLoop) -> None:
        self.embedders, self.loop = embedders, loop

    def choose(self, space: tuple[str, int] | None) -> Embedder:
        """The embedder of this (model, dims), or the default for None; raises UnknownModel."""
        if space is None:
            return self.embedders.default
        found = self.embedders.find(*space)
        if found is None:
            raise UnknownModel(
                f"The workspace is searched with the embedding model {space[0]} ({space[1]} dimensions), which is not "
                "configured for this worker (EMBEDDING_MODELS)"
            )
        return found

    def embed(self, embedder: Embedder, texts: list[str], check: Check) -> NDArray[np.float32]:
        """A row per text; raises EmbeddingError, and what `check` raises, which is called about twice a second."""
        future = asyncio.run_coroutine_threadsafe(embedder.embed(texts), self.loop)
        try:
            while True:
                try:
                    return future.result(CHECK_SECONDS)
                except FutureTimeoutError:
                    if future.done():
                        raise
                    check()
        finally:
            future.cancel()


@contextmanager
def running_loop(name: str) -> Iterator[asyncio.AbstractEventLoop]:
    """Runs an event loop in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name=name, daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
