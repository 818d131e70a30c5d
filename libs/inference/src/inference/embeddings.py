"""The port for embedding models."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from inference.errors import WrongEmbeddings


@dataclass(frozen=True, slots=True)
class EmbeddingSpace:
    """What makes vectors comparable: the same model and the same dimensions.

    `max_tokens` is the longest text that the model reads, including its special tokens.
    """

    model: str
    dims: int
    max_tokens: int


BUNDLED_SPACE = EmbeddingSpace("all-MiniLM-L6-v2-onnx-int8", 384, 256)


class Embedder(Protocol):
    """Turns texts into unit vectors whose dot product is the texts' similarity."""

    @property
    def space(self) -> EmbeddingSpace: ...

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Returns one row of unit length per text, in the texts' order; shape (len(texts), space.dims).

        `texts` may be empty, and so may a text. Texts are truncated to `space.max_tokens`. Raises EmbeddingError.
        """
        ...

    async def aclose(self) -> None:
        """Releases the model or the connections."""
        ...


def unit_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Divides each row by its L2 norm. Raises WrongEmbeddings if a row has no direction (zero or not finite)."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(norms).all() and (norms > 0).all()):
        raise WrongEmbeddings("a vector is zero or not finite")
    unit: NDArray[np.float32] = np.divide(vectors, norms, dtype=np.float32)
    return unit
