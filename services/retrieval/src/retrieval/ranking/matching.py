"""Soft term match of a wording with candidates."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from retrieval.ranking.soft_match import SoftMatch
from retrieval.ranking.wordpieces import WordPieces


class Matching:
    """Loads the tokenizer and the table once. May be used from several threads at once."""

    def __init__(self, pieces: WordPieces | None = None) -> None:
        self.pieces, self.score = pieces or WordPieces(), SoftMatch()

    def __call__(self, text: str, weight: Callable[[str], float], stored: Mapping[int, bytes]) -> dict[int, float]:
        """Returns scores by candidate; `weight` is that of a word, `stored` the candidates' wordpieces."""
        query = self.pieces.weighted(text, weight)
        scores = self.score(query, list(stored.values()))
        return dict(zip(stored, scores.tolist(), strict=True))
