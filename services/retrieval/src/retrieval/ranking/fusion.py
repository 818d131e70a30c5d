"""Fusion of the legs, without IO. Scores are columns: one value per candidate, NaN for one that a rule does not rank.

`hybrid` adds features on absolute scales, after Bruch et al. 2023 (An Analysis of Fusion Functions for Hybrid
Retrieval, theoretical instead of observed bounds): a leg that found nothing good adds little, while scaling by the
query's own best hit would give it as much weight as the other. `convex` scales that way (min-max), for comparison, and
`rrf` is reciprocal rank fusion (Cormack et al. 2009).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval.ranking.features import Columns, Feature, Floats

RRF_K = 60
Rows = NDArray[np.intp]


def weighted_sum(features: Iterable[Feature], weights: Mapping[str, float], columns: Columns, count: int) -> Floats:
    """Returns the dot product of weights and features; an unknown value counts as 0, and factors are not added."""
    total = np.zeros(count)
    for one in features:
        if not one.factor and one.name in columns:
            total += weights[one.name] * np.nan_to_num(columns[one.name])
    return total


def reduced(scores: Floats, factor: Floats, part: float, found_otherwise: NDArray[np.bool_]) -> Floats:
    """Returns the scores, with those of candidates that have a `factor` (0 to 1) multiplied by it.

    If other legs found the candidate too, only `part` of its score is multiplied.
    """
    parts = np.where(found_otherwise, min(1.0, part), 1.0)
    return np.where(np.nan_to_num(factor) > 0, scores * (1 - parts + parts * factor), scores)


def title_named(title: Collection[str], weights: Mapping[str, float]) -> float:
    """Returns the share of the title's distinct terms that the query has, by the `weights` of the query's terms; 0
    without a title. The title's other terms have the average weight of the query's terms.
    """
    shared = weights.keys() & title
    named = sum(weights[term] for term in shared)
    if not named:
        return 0.0
    average = sum(weights.values()) / len(weights)
    return named / (named + average * (len(set(title)) - len(shared)))


def reciprocal_ranks(rankings: Iterable[tuple[float, Rows]], count: int, k: int = RRF_K) -> Floats:
    """Returns the sum of weight / (k + rank) over the rankings of candidates, best first; ranks count from 1."""
    scores = np.full(count, np.nan)
    for weight, rows in rankings:
        scores[rows] = np.nan_to_num(scores[rows]) + weight / (k + np.arange(1, len(rows) + 1))
    return scores


def scaled(scores: Floats, found: Rows) -> Floats:
    """Scales scores to 0 for the worst candidate that the leg found and 1 for the best; scores beyond are clipped."""
    own = scores[found]
    own = own[~np.isnan(own)]
    if not len(own):
        return np.where(np.isnan(scores), np.nan, 0.0)
    lowest, span = own.min(), own.max() - own.min()
    if span <= 0:
        return np.where(np.isnan(scores), np.nan, (scores >= lowest).astype(float))
    between: Floats = np.clip((scores - lowest) / span, 0.0, 1.0)
    return between


def convex(legs: Iterable[tuple[float, Floats]], count: int) -> Floats:
    """Returns the weighted mean of scores from 0 to 1; an unknown score counts as 0."""
    legs = [(weight, scores) for weight, scores in legs if weight]
    total = sum(weight for weight, _ in legs)
    fused = np.full(count, np.nan)
    for weight, scores in legs:
        fused = np.where(np.isnan(scores), fused, np.nan_to_num(fused) + weight / total * scores)
    return fused


def of_wordings(scores: Sequence[Floats]) -> Floats:
    """Returns half the score for the query itself (the first) plus half the best for any wording: another wording can
    raise the candidates that answer it, but cannot bury those that answer the query.
    """
    if len(scores) == 1:
        return scores[0]
    every = np.stack(scores)
    fused = 0.5 * np.nan_to_num(every[0]) + 0.5 * np.nan_to_num(every).max(axis=0)
    return np.where(np.isnan(every).all(axis=0), np.nan, fused)
