"""What words mean alone, without running a model: a table for the wordpieces of the bundled encoder.

Needs `tokenizers`, not onnxruntime. `services/retrieval/tools/wordpiece_table.py` makes the table.
"""

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from inference.tokens import load_minilm_tokenizer
from inference.unicode import encodable

TABLE_FILE = Path(__file__).with_name("models") / "wordpieces.npy"
_LONGEST_WORD = 100
_MOST_WORDS = 20_000


def wordpiece_table() -> NDArray[np.float32]:
    """Returns a row of length 1 for each wordpiece, by its id; 8 MB."""
    rows = np.load(TABLE_FILE).astype(np.float32)
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1), np.float32)


class WordVectors:
    """Tells how alike two words are. Loads the table and the tokenizer once; safe for several threads."""

    def __init__(self, tokenizer: Tokenizer | None = None) -> None:
        self._tokenizer = tokenizer or load_minilm_tokenizer()
        self._table = wordpiece_table()
        self._vector = lru_cache(_MOST_WORDS)(self._looked_up)

    def alike(self, first: str, other: str) -> float:
        """Returns the cosine of the two, from -1 to 1: a synonym has some 0.5, an unrelated word 0.1."""
        return float(self._vector(first[:_LONGEST_WORD].lower()) @ self._vector(other[:_LONGEST_WORD].lower()))

    def _looked_up(self, word: str) -> NDArray[np.float32]:
        ids = self._tokenizer.encode(encodable(word), add_special_tokens=False).ids
        mean = self._table[ids].mean(axis=0) if ids else np.zeros(self._table.shape[1], np.float32)
        return np.asarray(mean / (np.linalg.norm(mean) + 1e-9), np.float32)
