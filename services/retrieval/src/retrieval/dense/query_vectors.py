"""A cache of query vectors: the same question is often repeated."""

from __future__ import annotations

from collections import OrderedDict

from inference.embedders import Embedders
from inference.embeddings import Embedder
from retrieval.reading.vectors import Vector

REMEMBERED = 512


class QueryVectors:
    """Embeds queries with the model that a workspace is searched with; an LRU cache keeps the last few."""

    def __init__(self, embedders: Embedders) -> None:
        self.embedders = embedders
        self.known: OrderedDict[tuple[str, int, str], Vector] = OrderedDict()

    async def of_query(self, query: str, embedder: Embedder) -> Vector:
        """Returns a unit vector. Raises EmbeddingError."""
        key = (embedder.space.model, embedder.space.dims, query)
        vector = self.known.get(key)
        if vector is None:
            vector = (await embedder.embed([query]))[0]
            self.known[key] = vector
            if len(self.known) > REMEMBERED:
                self.known.popitem(last=False)
        else:
            self.known.move_to_end(key)
        return vector
