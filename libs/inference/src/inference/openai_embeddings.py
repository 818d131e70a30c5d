"""Embeddings from an OpenAI-compatible endpoint: TEI, Ollama, vLLM, or a provider."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from inference.breaker import CircuitBreaker
from inference.embeddings import EmbeddingSpace, unit_rows
from inference.errors import ProviderUnavailable, UnreadableReply, WrongEmbeddings
from inference.provider import Provider
from inference.retry import RetryPolicy
from inference.unicode import encodable


class OpenAIEmbedder:
    """`POST /embeddings` with `batch_size` texts per request.

    The provider truncates long texts; one that refuses them instead raises ContextTooLong.
    """

    def __init__(
        self,
        provider: Provider,
        space: EmbeddingSpace,
        *,
        batch_size: int = 32,
        retry: RetryPolicy | None = None,
        breaker: CircuitBreaker | None = None,
    ) -> None:
        """Owns `provider` and closes it."""
        self.space = space
        self._provider = provider
        self._batch_size = batch_size
        self._retry = retry or RetryPolicy()
        self._breaker = breaker or CircuitBreaker()

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.empty((len(texts), self.space.dims), np.float32)
        for start in range(0, len(texts), self._batch_size):
            batch = texts[start : start + self._batch_size]
            vectors[start : start + len(batch)] = await self._embed_batch(batch)
        return vectors

    async def aclose(self) -> None:
        await self._provider.aclose()

    async def _embed_batch(self, texts: Sequence[str]) -> NDArray[np.float32]:
        # OpenAI refuses an empty text but accepts a space, which encoders treat the same.
        body = {
            "model": self.space.model,
            "input": [encodable(text) or " " for text in texts],
            "encoding_format": "float",
        }
        with self._breaker.call(failures=ProviderUnavailable):
            reply = await self._retry.run(lambda: self._provider.post("/embeddings", body))
        return unit_rows(self._vectors(reply, len(texts)))

    def _vectors(self, reply: object, count: int) -> NDArray[np.float32]:
        try:
            items = reply["data"]  # type: ignore[index]  # anything else is refused below
            by_index = {int(item["index"]): np.asarray(item["embedding"], np.float32) for item in items}
        except (KeyError, TypeError, ValueError):
            raise UnreadableReply("no list of embeddings with their indexes") from None
        if len(items) != count or by_index.keys() != set(range(count)):
            raise WrongEmbeddings(f"{len(items)} embeddings for {count} texts")
        for vector in by_index.values():
            if vector.shape != (self.space.dims,):
                raise WrongEmbeddings(f"shape {vector.shape}, expected {self.space.dims} dimensions")
        return np.stack([by_index[index] for index in range(count)])
