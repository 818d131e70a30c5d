"""Whether a learned order of the first candidates beats the shipped rule on sets that it was not trained on.

PYTHONPATH=tests python -m benchmarks.learned_ranking FOLDER...

Two learners order the best DEPTH candidates of `hybrid` anew: a linear one (pairwise logistic regression) and boosted
stumps (LambdaMART with trees of one split, Burges 2010). Each is trained on all sets but one, each set counting the
same, and measured on that one: nDCG@10, recall@5 for the multi-hop sets.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.ranking_features import NAMES, Floats, Listed, listed
from benchmarks.retrieval_quality import opened
from numpy.typing import NDArray

from embedded.engines import Engines
from retrieval.tuning.fitting import dcg

Integers = NDArray[np.int64]
Scorer = Callable[[Floats, Floats], Floats]  # of features and the shipped scores
DEPTH = 50
PENALTY = 1.0
NEWTON_STEPS, ROUNDS, RATE, BINS, LEAST = 15, 150, 0.1, 32, 1e-3


@dataclass(frozen=True)
class Pairs:
    """Candidates of one question each, of which `better` has the higher grade; rows of `features`, with `weights`."""

    features: Floats
    shipped: Floats
    better: Integers
    worse: Integers
    weights: Floats


def pairs_of(sets: Sequence[Sequence[Listed]]) -> Pairs:
    """Every pair weighs what swapping it changes of nDCG, each set together as much as any other."""
    features, shipped, better, worse, weights = [], [], [], [], []
    first = 0
    for questions in sets:
        own: list[Floats] = []
        for one in questions:
            grades = one.grades[:DEPTH]
            up, down = np.nonzero(grades[:, None] > grades[None, :])
            features.append(one.features[:DEPTH])
            shipped.append(one.shipped[:DEPTH])
            better.append(first + up)
            worse.append(first + down)
            discounts = 1 / np.log2(np.arange(len(grades)) + 2)
            gains = 2.0 ** grades[up] - 2.0 ** grades[down]
            own.append(gains * np.abs(discounts[up] - discounts[down]) / dcg(one.ideal[:10]))
            first += len(grades)
        total = sum(float(part.sum()) for part in own)
        weights += [part / total for part in own]
    together = [np.concatenate(part) for part in (features, shipped, better, worse, weights)]
    return Pairs(*together)


def linear(pairs: Pairs) -> Scorer:
    """Newton's method on the pairwise logistic loss."""
    scale = pairs.features.std(axis=0) + 1e-9
    apart = (pairs.features[pairs.better] - pairs.features[pairs.worse]) / scale
    weights, found = pairs.weights * len(pairs.weights) / pairs.weights.sum(), np.zeros(len(NAMES))
    for _ in range(NEWTON_STEPS):
        wrong = 1 / (1 + np.exp(apart @ found))
        gradient = apart.T @ (weights * wrong) - PENALTY * found
        curved = (apart * (weights * wrong * (1 - wrong))[:, None]).T @ apart + PENALTY * np.eye(len(NAMES))
        found = found + np.linalg.solve(curved, gradient)
    return lambda features, _shipped: features @ (found / scale)


def stumps(pairs: Pairs) -> Scorer:
    """Boosted from the shipped score, which enters in the unit in which it orders the training pairs best."""
    rule = np.concatenate([pairs.features, pairs.shipped[:, None]], axis=1)
    cuts = [np.unique(np.quantile(column, np.linspace(0, 1, BINS + 1)[1:-1])) for column in rule.T]
    bins = [np.searchsorted(own, column, side="right") for own, column in zip(cuts, rule.T, strict=True)]
    unit = 1 / (pairs.shipped[pairs.better] - pairs.shipped[pairs.worse]).std()
    scores, found = pairs.shipped * unit, list[tuple[int, float, float, float]]()
    weights, count = pairs.weights / pairs.weights.sum(), len(scores)
    for _ in range(ROUNDS):
        wrong = 1 / (1 + np.exp(scores[pairs.better] - scores[pairs.worse]))
        steep, curved = weights * wrong, weights * wrong * (1 - wrong)
        gradient = np.bincount(pairs.better, steep, count) - np.bincount(pairs.worse, steep, count)
        curvature = np.bincount(pairs.better, curved, count) + np.bincount(pairs.worse, curved, count)
        best = max(_split(bins[at], len(cuts[at]), gradient, curvature, at) for at in range(len(cuts)))
        _, at, cut, below, above = best
        found.append((at, float(cuts[at][cut]), RATE * below, RATE * above))
        scores = scores + np.where(bins[at] <= cut, RATE * below, RATE * above)

    def score(features: Floats, shipped: Floats) -> Floats:
        columns = np.concatenate([features, shipped[:, None]], axis=1)
        total = shipped * unit
        for at, cut, below, above in found:
            total = total + np.where(columns[:, at] < cut, below, above)
        return total

    return score


def _split(
    bins: Integers, cuts: int, gradient: Floats, curvature: Floats, at: int
) -> tuple[float, int, int, float, float]:
    """(gain, feature, last bin below, step below, step above) of the best cut of one feature."""
    if not cuts:
        return -1.0, at, 0, 0.0, 0.0
    slopes = np.cumsum(np.bincount(bins, gradient, cuts + 1))
    curves = np.cumsum(np.bincount(bins, curvature, cuts + 1)) + LEAST
    below, above = slopes[:-1] / curves[:-1], (slopes[-1] - slopes[:-1]) / (curves[-1] - curves[:-1] + LEAST)
    gains = below * slopes[:-1] + above * (slopes[-1] - slopes[:-1])
    cut = int(np.argmax(gains))
    return float(gains[cut]), at, cut, float(below[cut]), float(above[cut])


def measured(name: str, questions: Sequence[Listed], scorer: Scorer | None = None) -> Floats:
    """By question; None: the shipped order."""
    values = []
    for one in questions:
        order = np.arange(len(one.grades))
        if scorer:
            first = np.argsort(-scorer(one.features[:DEPTH], one.shipped[:DEPTH]), kind="stable")
            order = np.concatenate([first, order[DEPTH:]])
        grades = one.grades[order]
        if name.startswith("mh"):
            values.append(np.count_nonzero(grades[:5]) / len(one.ideal))
        else:
            values.append(dcg(grades[:10]) / dcg(one.ideal[:10]))
    return np.array(values)


def compare(sets: dict[str, list[Listed]]) -> None:
    """Prints a line of each set, and the mean gain of each learner."""
    learners = {"linear": linear, "stumps": stumps}
    gains: dict[str, list[float]] = {name: [] for name in learners}
    for held, questions in sets.items():
        pairs = pairs_of([own for name, own in sets.items() if name != held])
        before = measured(held, questions)
        line = f"{held:14} {len(questions):5}  shipped {before.mean():.4f}"
        for name, learner in learners.items():
            changes = measured(held, questions, learner(pairs)) - before
            gains[name].append(float(changes.mean()))
            error = changes.std(ddof=1) / np.sqrt(len(changes))
            line += f"  {name} {changes.mean():+.4f} (standard error {error:.4f})"
        print(line, flush=True)
    means = "  ".join(f"{name} {np.mean(own):+.4f}" for name, own in gains.items())
    print(f"mean gain over the shipped rule on sets not trained on: {means}")


async def main(folders: Sequence[Path], admin_url: str) -> None:
    async with opened(admin_url) as bench:
        compare({folder.name: await listed(bench, folder) for folder in folders})


if __name__ == "__main__":
    with Engines.temporary() as engines:
        asyncio.run(main([Path(name) for name in sys.argv[1:]], engines.admin_database_url))
