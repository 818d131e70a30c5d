"""Fusion of the legs, without IO.

`hybrid` adds features on absolute scales, after Bruch et al. 2023 (An Analysis of Fusion Functions for Hybrid
Retrieval, theoretical in place of observed bounds): a leg that found nothing good has little to add, where scaling by
a query's own best hit would let it vote as loudly as the other. `rrf` is reciprocal rank fusion (Cormack et al. 2009).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass

RRF_K = 60


@dataclass(frozen=True)
class Features:
    """Of one candidate; all but `cosine` (-1 to 1) lie between 0 and 1.

    `bm25_share`: BM25 over the sum of the query's term weights. `title_named`: share of the title's terms that the
    query names. `all_terms`: 1 if the chunk has every term of the query.
    """

    cosine: float = 0.0
    bm25_share: float = 0.0
    title_named: float = 0.0
    all_terms: float = 0.0

    def as_dict(self) -> dict[str, float]:
        return asdict(self)


# A grid on the sets in the README; flat around these values.
WEIGHTS = Features(cosine=1.0, bm25_share=0.6, title_named=0.1, all_terms=0.2)


def absolute(features: Features, weights: Features = WEIGHTS) -> float:
    """The fused score."""
    return (
        weights.cosine * features.cosine
        + weights.bm25_share * features.bm25_share
        + weights.title_named * features.title_named
        + weights.all_terms * features.all_terms
    )


def title_named(title: Collection[str], query: Collection[str]) -> float:
    """The share of the title's distinct terms that the query has; 0 without a title."""
    return len(set(title) & set(query)) / len(set(title)) if title else 0.0


def reciprocal_ranks(rankings: Sequence[Sequence[int]], k: int = RRF_K) -> dict[int, float]:
    """The sum of 1 / (k + rank) over the rankings; ranks count from 1."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, candidate in enumerate(ranking, 1):
            scores[candidate] = scores.get(candidate, 0.0) + 1 / (k + rank)
    return scores


# Chosen on questions put to the corpus that answers them and to others that cannot; the README has the error rates.
_SHARE_AS_EVIDENCE, _ENOUGH, _ENOUGH_SHARE_ALONE = 0.5, 0.5, 0.3


def is_good_match(features: Features, *, dense: bool) -> bool:
    """Whether a hit is likely to answer; `dense` is false where no cosine was to be had."""
    if not dense:
        return features.bm25_share >= _ENOUGH_SHARE_ALONE
    return features.cosine + _SHARE_AS_EVIDENCE * features.bm25_share >= _ENOUGH
