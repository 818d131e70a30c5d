"""Estimates whether one of the first hits answers the query. No IO.

Logistic regressions on the best cosine, BM25 share and soft match among the first hits, fitted on questions to the
corpus that answers them (if one of the first hits does) against questions to corpora that do not, with equal weight.
docs/figures.md has the error rates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from retrieval.ranking.features import Columns

LOOKED_AT = 3  # hits
GOOD = 0.5


@dataclass(frozen=True)
class _Regression:
    cosine: float
    bm25_share: float
    soft_match: float
    constant: float

    def probability(self, best: Mapping[str, float]) -> float:
        odds = self.constant
        for name in ("cosine", "bm25_share", "soft_match"):
            odds += getattr(self, name) * best[name]
        return 1 / (1 + math.exp(-odds))


_BOTH = _Regression(cosine=8.9, bm25_share=5.2, soft_match=4.3, constant=-7.6)
_WORDS = _Regression(cosine=0.0, bm25_share=8.8, soft_match=7.9, constant=-7.2)
_VECTORS = _Regression(cosine=12.5, bm25_share=0.0, soft_match=0.0, constant=-5.4)


def match(hits: Columns, *, words: bool, vectors: bool) -> float:
    """Returns the probability for the first hits. `words`: their BM25 is known; `vectors`: their cosines are known and
    from the bundled encoder, the only one that the regressions are fitted to.
    """
    if not (words or vectors) or not all(len(column) for column in hits.values()):
        return 0.0
    evidence = _BOTH if words and vectors else _WORDS if words else _VECTORS
    return evidence.probability({name: float(np.nan_to_num(column).max()) for name, column in hits.items()})
