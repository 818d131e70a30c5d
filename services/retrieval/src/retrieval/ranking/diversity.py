"""Variety among the hits: a limit per document, and novelty weighed against relevance. No IO."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray


def capped(order: Sequence[int], document_of: Mapping[int, Hashable], most: int) -> list[int]:
    """Returns `order` with at most `most` chunks of each document."""
    seen: Counter[Hashable] = Counter()
    kept = []
    for chunk in order:
        seen[document_of[chunk]] += 1
        if seen[document_of[chunk]] <= most:
            kept.append(chunk)
    return kept


def diversified(
    order: Sequence[int],
    scores: Mapping[int, float],
    vectors: Mapping[int, NDArray[np.float32]],
    diversity: float,
    k: int,
) -> list[int]:
    """Returns the first `k` by maximal marginal relevance (Carbonell, Goldstein 1998).

    `diversity` (0 to 1) is one minus their lambda: the weight of the greatest cosine with a hit chosen before. Scores
    are min-max scaled. `vectors` have unit length; a candidate without one is treated as similar to no other.
    """
    if diversity <= 0 or len(order) < 2:
        return list(order[:k])
    values = np.array([scores[chunk] for chunk in order])
    spread = values.max() - values.min()
    relevance = (values - values.min()) / spread if spread > 0 else np.ones(len(order))
    cosines = _cosines(order, vectors)
    closest, chosen = np.zeros(len(order)), np.zeros(len(order), bool)
    picked: list[int] = []
    for _ in range(min(k, len(order))):
        marginal = (1 - diversity) * relevance - diversity * closest
        best = int(np.argmax(np.where(chosen, -np.inf, marginal)))  # the first of equals
        chosen[best] = True
        closest = np.maximum(closest, cosines[best])
        picked.append(order[best])
    return picked


def _cosines(order: Sequence[int], vectors: Mapping[int, NDArray[np.float32]]) -> NDArray[np.float64]:
    found = [position for position, chunk in enumerate(order) if chunk in vectors]
    cosines = np.zeros((len(order), len(order)))
    if found:
        rows = np.stack([vectors[order[position]] for position in found])
        cosines[np.ix_(found, found)] = rows @ rows.T
    return cosines
