"""Embeds the texts of callers, with the lowest priority."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from contracts.openai_embeddings import EmbeddingList, EmbeddingRequest, EmbeddingUsage, EmbeddingVector
from inference.embedders import Embedders
from inference.embeddings import Embedder
from inference.errors import EmbeddingError
from inference.estimate import estimated_tokens
from retrieval.errors import EmbeddingsUnavailable, OtherDimensions, UnknownEncoder
from retrieval.reading.vectors import Vector

DEFAULT = "attractor"
# Requests take turns after this many texts.
TOGETHER = 16


@dataclass(frozen=True)
class TextEmbedding:
    """Embeds texts; its `embedders` should give way to searches."""

    embedders: Embedders

    async def embed(self, request: EmbeddingRequest) -> EmbeddingList:
        """Returns the vectors. Raises UnknownEncoder, OtherDimensions, EmbeddingsUnavailable."""
        embedder = self._named(request.model)
        space = embedder.space
        if request.dimensions not in (None, space.dims):
            raise OtherDimensions(f"the vectors of {space.model} have {space.dims}", param="dimensions")
        texts = [request.input] if isinstance(request.input, str) else request.input
        vectors = await _vectors(embedder, texts)
        tokens = sum(min(estimated_tokens(text), space.max_tokens) for text in texts)
        is_packed = request.encoding_format == "base64"
        return EmbeddingList(
            model=space.model,
            data=[
                EmbeddingVector(index=at, embedding=packed(vector) if is_packed else vector.tolist())
                for at, vector in enumerate(vectors)
            ],
            usage=EmbeddingUsage(prompt_tokens=tokens, total_tokens=tokens),
        )

    def _named(self, model: str) -> Embedder:
        if model == DEFAULT:
            return self.embedders.default
        if (found := self.embedders.named(model)) is None:
            known = ", ".join(sorted({space.model for space in self.embedders.spaces}))
            raise UnknownEncoder(f"there are {DEFAULT}, {known}", param="model", code="model_not_found")
        return found


def packed(vector: Vector) -> str:
    """Returns the bytes of little-endian 32-bit floats, in base64."""
    return base64.b64encode(np.asarray(vector, "<f4").tobytes()).decode("ascii")


async def _vectors(embedder: Embedder, texts: Sequence[str]) -> list[Vector]:
    vectors: list[Vector] = []
    try:
        for start in range(0, len(texts), TOGETHER):
            vectors.extend(await embedder.embed(texts[start : start + TOGETHER]))
    except EmbeddingError as error:
        raise EmbeddingsUnavailable(str(error)) from error
    return vectors
