"""Estimates whether one of the first hits answers the query. No IO.

Logistic regressions on the best cosine, BM25 share and soft match among the first hits, fitted on questions to the
corpus that answers them (if one of the first hits does) against questions to corpora that do not, with equal weight.
docs/figures.md has the error rates.
"""

from __future__ import annotations

import math

import numpy as np

from retrieval.ranking.features import Columns

LOOKED_AT = 3  # hits
GOOD = 0.5
COMPARED = ("cosine", "bm25_share", "soft_match")


# Weights, and the constant.
_BOTH = ({"cosine": 8.9, "bm25_share": 5.2, "soft_match": 4.3}, -7.6)
_WORDS = ({"bm25_share": 8.8, "soft_match": 7.9}, -7.2)
_VECTORS = ({"cosine": 12.5}, -5.4)


def match(hits: Columns, *, words: bool, vectors: bool) -> float:
    """Returns the probability for the first hits. `words`: their BM25 is known; `vectors`: their cosines are known and
    from the bundled encoder, the only one that the regressions are fitted to.
    """
    if not (words or vectors) or not all(len(column) for column in hits.values()):
        return 0.0
    weights, constant = _BOTH if words and vectors else _WORDS if words else _VECTORS
    odds = sum((weight * float(np.nan_to_num(hits[name]).max()) for name, weight in weights.items()), constant)
    return 1 / (1 + math.exp(-odds))
