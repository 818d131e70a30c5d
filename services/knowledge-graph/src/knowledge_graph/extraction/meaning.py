"""What the sentence encoder says of texts, within a bound for each document."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from inference.errors import EmbeddingError

Vector = NDArray[np.float32]
Encode = Callable[[str], Vector]
"""A text's unit vector; a long text may be cut. Raises EmbeddingError."""

MOST_ENCODED = 60


class Meaning:
    """Of one document. Each text is encoded by itself and once, so that no answer depends on what else was asked."""

    def __init__(self, encode: Encode | None) -> None:
        self._encode = encode
        self._vectors: dict[str, Vector] = {}
        self._unanswered = 0

    def similarities(self, text: str, others: Sequence[str]) -> list[float] | None:
        """Cosines. None without an encoder, when it fails, and beyond 60 texts of a document."""
        if len(self._vectors.keys() | {text, *others}) > MOST_ENCODED:
            self._unanswered += 1
            return None
        try:
            return [float(self._vector(text) @ self._vector(other)) for other in others]
        except EmbeddingError:
            self._encode = None
            self._unanswered += 1
            return None

    def notes(self) -> list[str]:
        """What there is to say about the document."""
        if not self._unanswered:
            return []
        why = f"only {MOST_ENCODED} texts of a document are encoded" if self._encode else "no sentence encoder"
        return [f"{self._unanswered} ambiguous names were left open: {why}"]

    def _vector(self, text: str) -> Vector:
        if self._encode is None:
            raise EmbeddingError("no encoder")
        if text not in self._vectors:
            self._vectors[text] = self._encode(text)
        return self._vectors[text]
