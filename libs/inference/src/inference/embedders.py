"""Several embedding models side by side, each for vectors of its own space."""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from inference.embeddings import Embedder, EmbeddingSpace
from inference.errors import EmbeddingError

SpaceKey: TypeAlias = tuple[str, int]


class EmbeddingWatch(Protocol):
    """Observes calls of embedding models."""

    def __call__(self, model: str, texts: int, seconds: float, *, succeeded: bool) -> None: ...

    def expect(self, model: str) -> None:
        """Announces a model that may be called."""
        ...


class WatchedEmbedder:
    """An embedder that reports its calls to `watch`, except cancelled ones."""

    def __init__(self, embedder: Embedder, watch: EmbeddingWatch) -> None:
        """Owns `embedder` and closes it."""
        self.space = embedder.space
        self._embedder, self._watch = embedder, watch
        watch.expect(self.space.model)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        start = time.perf_counter()
        try:
            vectors = await self._embedder.embed(texts)
        except EmbeddingError:
            self._watch(self.space.model, len(texts), time.perf_counter() - start, succeeded=False)
            raise
        self._watch(self.space.model, len(texts), time.perf_counter() - start, succeeded=True)
        return vectors

    async def aclose(self) -> None:
        await self._embedder.aclose()


class Embedders:
    """The configured models by (model, dims); the first of several equal ones counts."""

    def __init__(self, default: Embedder, others: Sequence[Embedder] = ()) -> None:
        """Owns all of them and closes them."""
        self.default = default
        self._all = [default, *others]
        self._by_space: dict[SpaceKey, Embedder] = {}
        for embedder in self._all:
            self._by_space.setdefault((embedder.space.model, embedder.space.dims), embedder)

    @property
    def spaces(self) -> list[EmbeddingSpace]:
        """Returns the space of each configured model, the default's first."""
        return [embedder.space for embedder in self._by_space.values()]

    def find(self, model: str, dims: int) -> Embedder | None:
        """Returns the embedder of this space, or None if no configured model has it."""
        return self._by_space.get((model, dims))

    def named(self, model: str, dims: int | None = None) -> Embedder | None:
        """Returns the first embedder of this model, with these dimensions if given."""
        return next(
            (one for one in self._by_space.values() if one.space.model == model and dims in (None, one.space.dims)),
            None,
        )

    async def aclose(self) -> None:
        """Closes every embedder, even if closing another fails."""
        outcomes = await asyncio.gather(*(embedder.aclose() for embedder in self._all), return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome


class LazyEmbedder:
    """An embedder that is built in a thread at its first use, and takes no memory until then."""

    def __init__(self, space: EmbeddingSpace, build: Callable[[], Embedder]) -> None:
        """`build` returns an embedder of `space`; `embed` raises what it raises."""
        self.space = space
        self._build = build
        self._lock = threading.Lock()
        self._built: Embedder | None = None

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return await (await asyncio.to_thread(self._get)).embed(texts)

    async def aclose(self) -> None:
        if self._built is not None:
            await self._built.aclose()

    def _get(self) -> Embedder:
        with self._lock:
            if self._built is None:
                self._built = self._build()
            return self._built
