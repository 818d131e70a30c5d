"""Metrics of a ranked list against the expected results. No I/O."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

SHALLOW = 5


def metric_names(k: int) -> list[str]:
    """Returns the names of the metrics of `measure`, in the order in which tables show them."""
    shallow = [f"recall@{SHALLOW}"] if k > SHALLOW else []
    return [f"ndcg@{k}", *shallow, f"recall@{k}", f"mrr@{k}", f"hit_rate@{k}", "success@1"]


def measure(ranked: Sequence[int], expected: Sequence[int], k: int) -> dict[str, float]:
    """Returns the metrics of one question by name.

    `ranked` has the grade of each result, best first, 0 if it was not expected; `expected` has all expected grades.
    nDCG with the gain 2^grade - 1 and the discount log2(rank + 1) (Burges et al. 2005); MRR is 1 / rank of the first
    expected result, 0 beyond k; hit rate: whether one is among the first k; success@1: whether the first one is.
    """
    if not expected:
        raise ValueError("a question without an expected result cannot be measured")
    found = [rank for rank, grade in enumerate(ranked[:k], 1) if grade > 0]
    ideal = dcg(sorted(expected, reverse=True)[:k])
    values = {
        f"ndcg@{k}": dcg(ranked[:k]) / ideal,
        f"recall@{SHALLOW}": sum(rank <= SHALLOW for rank in found) / len(expected),
        f"recall@{k}": len(found) / len(expected),
        f"mrr@{k}": 1 / found[0] if found else 0.0,
        f"hit_rate@{k}": float(bool(found)),
        "success@1": float(1 in found),
    }
    return {name: values[name] for name in metric_names(k)}


def dcg(grades: Sequence[int]) -> float:
    """Returns the discounted cumulative gain of grades in rank order."""
    return math.fsum((2.0**grade - 1) / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))


def means(values: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Returns the mean of each metric over all questions; empty without questions."""
    return {name: math.fsum(one[name] for one in values) / len(values) for name in values[0]} if values else {}


def percentile(values: Sequence[float], share: float) -> float:
    """Returns the percentile by nearest rank; 0 without values."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0
