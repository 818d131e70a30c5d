"""Weights that rank judged candidates best, without IO: a search along one weight after the other.

A linear sum of few features has few bad optima, so the search is short; and a weight moves only for a gain that is more
than noise, so few questions leave the weights as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from retrieval.ranking.fusion import FEATURES, Weights
from retrieval.ranking.weights import SpaceWeights

Floats = NDArray[np.float64]
TUNED = ("bm25_share", "soft_match", "title_named", "all_terms", "document")
FACTORS = (0.0, 0.5, 0.7, 1.4, 2.0, 3.0)
LEAST_GAIN = 0.001
PASSES = 3
FOLDS = 5
FEWEST_QUESTIONS = 20
DEPTH = 10


@dataclass(frozen=True)
class Judged:
    """The candidates of one question. `features` (candidates, FEATURES) on absolute scales; `scaled`: the cosines
    between the worst and the best. `units` (small integers) are what is judged, documents or quotes; `ideal` is the
    best DCG@10.
    """

    features: Floats
    scaled: Floats
    units: NDArray[np.int64]
    grades: NDArray[np.int64]
    ideal: float

    def ndcg(self, space: SpaceWeights) -> float:
        """nDCG@10 of the units, each at its best passage."""
        features = self.features
        if space.scaled:
            features = features.copy()
            features[:, FEATURES.index("cosine")] = self.scaled
        weights = np.array([getattr(space.weights, name) for name in FEATURES])
        order = np.argsort(-(features @ weights), kind="stable")
        first = np.sort(np.unique(self.units[order], return_index=True)[1])[:DEPTH]
        return dcg(self.grades[order[first]]) / self.ideal


@dataclass(frozen=True)
class Fitted:
    """`before` and `after`: nDCG@10 by question, each measured with weights that were fitted on others."""

    space: SpaceWeights
    before: Floats
    after: Floats

    @property
    def gain(self) -> float:
        return float((self.after - self.before).mean())

    @property
    def standard_error(self) -> float:
        return float((self.after - self.before).std(ddof=1) / np.sqrt(len(self.before)))

    @property
    def better(self) -> bool:
        """By more than chance would give."""
        return self.gain > max(self.standard_error, LEAST_GAIN)


def dcg(grades: NDArray[np.int64]) -> float:
    """With gain 2^grade - 1 and discount log2(rank + 1)."""
    found: float = ((2.0**grades - 1) / np.log2(np.arange(len(grades)) + 2)).sum()
    return found


def fit(questions: Sequence[Judged], start: SpaceWeights) -> SpaceWeights:
    """The best weights that the search finds from `start`, in its form of the cosine or, where that is not of a space
    that was fitted before, in either.
    """
    starts = [start]
    if start.scaled:
        starts += [replace(start, scaled=False, weights=replace(start.weights, cosine=one)) for one in (0.5, 1.0, 2.0)]
    found = [_ascend(questions, one) for one in starts]
    best = max(range(len(found)), key=lambda at: (_mean(questions, found[at]), -at))
    if _mean(questions, found[best]) < _mean(questions, found[0]) + LEAST_GAIN:
        best = 0
    return found[best]


def cross_validated(questions: Sequence[Judged], start: SpaceWeights) -> Fitted:
    """Weights fitted on all questions, and what fitting on four fifths of them gains on the others."""
    before, after = np.zeros(len(questions)), np.zeros(len(questions))
    for fold in range(FOLDS):
        space = fit([one for at, one in enumerate(questions) if at % FOLDS != fold], start)
        for at in range(fold, len(questions), FOLDS):
            before[at], after[at] = questions[at].ndcg(start), questions[at].ndcg(space)
    return Fitted(fit(questions, start), before, after)


def _ascend(questions: Sequence[Judged], start: SpaceWeights) -> SpaceWeights:
    best, reached = start, _mean(questions, start)
    for _ in range(PASSES):
        moved = False
        for one in _neighbours(best):
            if (mean := _mean(questions, one)) >= reached + LEAST_GAIN:
                best, reached, moved = one, mean, True
        if not moved:
            break
    return best


def _neighbours(space: SpaceWeights) -> Iterator[SpaceWeights]:
    for name in TUNED:
        now = getattr(space.weights, name) or 0.1
        for factor in FACTORS:
            weights: Weights = replace(space.weights, **{name: round(now * factor, 3)})
            yield replace(space, weights=weights)


def _mean(questions: Sequence[Judged], space: SpaceWeights) -> float:
    return sum(one.ndcg(space) for one in questions) / len(questions)
