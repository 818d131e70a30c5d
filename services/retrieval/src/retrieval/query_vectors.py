"""The vectors of queries, remembered: the same question often comes again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from inference.embeddings import Embedder, EmbeddingSpace

Vector: TypeAlias = NDArray[np.float32]
REMEMBERED = 512


class QueryVectors:
    """Embeds texts for searches; of queries the last few are remembered (least recently used goes first)."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.known: OrderedDict[str, Vector] = OrderedDict()

    @property
    def space(self) -> EmbeddingSpace:
        return self.embedder.space

    async def of_query(self, query: str) -> Vector:
        """A unit vector. Raises EmbeddingError."""
        vector = self.known.get(query)
        if vector is None:
            vector = (await self.embedder.embed([query]))[0]
            self.known[query] = vector
            if len(self.known) > REMEMBERED:
                self.known.popitem(last=False)
        else:
            self.known.move_to_end(query)
        return vector

    async def of_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A unit row per text. Raises EmbeddingError."""
        return await self.embedder.embed(texts)
