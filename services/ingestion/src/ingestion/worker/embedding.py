"""Embeds texts in batches, from threads that can be stopped."""

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
    """Raises an error if the work must end."""

    def __call__(self) -> None: ...


class TextEmbedder:
    """Runs embedders for all threads on one event loop, because their connections belong to a loop."""

    def __init__(self, embedders: Embedders, loop: asyncio.AbstractEventLoop) -> None:
        self.embedders, self.loop = embedders, loop

    def choose(self, space: tuple[str, int] | None) -> Embedder:
        """Returns the embedder of this (model, dims), or the default for None; raises UnknownModel."""
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
        """Returns one row per text. Calls `check` about twice a second; raises its errors and EmbeddingError."""
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
    """Runs an event loop in a separate thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name=name, daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
