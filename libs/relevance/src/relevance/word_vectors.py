"""Static vectors of words, from the table of the bundled encoder's wordpieces; no model runs."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from inference.tokens import load_minilm_tokenizer
from inference.unicode import encodable
from relevance.soft_match import SoftMatch

_LONGEST_WORD = 100
_MOST_WORDS = 20_000


class WordVectors:
    """Measures how similar two words are. Loads the table and the tokenizer once. Thread-safe."""

    def __init__(self, tokenizer: Tokenizer | None = None) -> None:
        self._tokenizer = tokenizer or load_minilm_tokenizer()
        self._table = SoftMatch().table
        self._vector = lru_cache(_MOST_WORDS)(self._looked_up)

    def alike(self, first: str, other: str) -> float:
        """Returns the cosine of the two, from -1 to 1: about 0.5 for a synonym, 0.1 for an unrelated word."""
        return float(self._vector(first[:_LONGEST_WORD].lower()) @ self._vector(other[:_LONGEST_WORD].lower()))

    def _looked_up(self, word: str) -> NDArray[np.float32]:
        ids = self._tokenizer.encode(encodable(word), add_special_tokens=False).ids
        mean = self._table[ids].mean(axis=0) if ids else np.zeros(self._table.shape[1], np.float32)
        return np.asarray(mean / (np.linalg.norm(mean) + 1e-9), np.float32)
