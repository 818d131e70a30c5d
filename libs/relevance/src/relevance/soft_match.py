"""Scores how much of a query a text says in other words: late interaction without stored token vectors.

For each wordpiece of the query, the best cosine with any wordpiece of the text, in a static table; their mean, weighted
by how rare the query's words are. After ColBERT (Khattab, Zaharia 2020) and static embeddings (Model2Vec). The table
is made by `tools/wordpiece_table.py` from the bundled encoder and is used with any embedding space.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from relevance.wordpieces import NO_PIECES, Pieces, WeightedPieces, WordPieces, decoded

TABLE_FILE = Path(__file__).with_name("wordpieces.npy")
MOST_PIECES = 48  # per query; of a longer one, the weightiest


class SoftMatch:
    """Scores texts by wordpieces. Loads the table (8 MB in memory, once per process). Thread-safe."""

    def __init__(self) -> None:
        self.table = _table()

    def __call__(self, query: WeightedPieces, texts: Sequence[bytes]) -> NDArray[np.float64]:
        """Returns 0 to 1 for each text, in the form of `WordPieces.distinct`; 0 if it or the query has no pieces."""
        ids, starts = decoded([text for text in texts if text])
        return self._scores(query, [bool(text) for text in texts], ids, starts)

    def of_pieces(self, query: WeightedPieces, texts: Sequence[Pieces]) -> NDArray[np.float64]:
        """Returns the same for texts whose distinct pieces are already read."""
        filled = [text for text in texts if len(text)]
        starts = np.cumsum([0, *map(len, filled)])[:-1]
        return self._scores(query, [len(text) > 0 for text in texts], np.concatenate([NO_PIECES, *filled]), starts)

    def _scores(
        self, query: WeightedPieces, filled: Sequence[bool], ids: Pieces, starts: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Scores all texts; those `filled` have the `ids`, each from one of the `starts` on."""
        scores = np.zeros(len(filled))
        pieces, weights = _weightiest(query)
        if not len(ids) or not len(pieces):
            return scores
        row = np.zeros(len(self.table), np.intp)
        row[ids] = 1
        distinct = np.flatnonzero(row)
        row[distinct] = np.arange(len(distinct))
        cosines = self.table[pieces] @ self.table[distinct].T
        best = np.maximum.reduceat(np.take(cosines, row[ids], axis=1), starts, axis=1)
        scores[np.flatnonzero(filled)] = np.clip(weights @ best / weights.sum(), 0, 1)
        return scores


class SoftMatcher:
    """Scores candidates by their wordpieces. Loads the tokenizer and the table once. Thread-safe."""

    def __init__(self) -> None:
        self.pieces, self.score = WordPieces(), SoftMatch()


@cache
def _table() -> NDArray[np.float32]:
    """Returns a read-only array of wordpieces x dimensions, each row of length 1."""
    rows = np.load(TABLE_FILE).astype(np.float32)
    table: NDArray[np.float32] = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)
    table.setflags(write=False)
    return table


def _weightiest(query: WeightedPieces) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Returns the distinct pieces with a weight, and the weights; those of repeated pieces are added up."""
    pieces, inverse = np.unique(query.ids, return_inverse=True)
    weights = np.bincount(inverse, query.weights, len(pieces)).astype(np.float32)
    kept = np.argsort(-weights, kind="stable")[:MOST_PIECES]
    kept = kept[weights[kept] > 0]
    return pieces[kept].astype(np.intp), weights[kept]
