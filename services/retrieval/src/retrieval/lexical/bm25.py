"""BM25's weights of a query's terms: Robertson, Zaragoza 2009, with the IDF of Lucene, which is never negative."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

K1, B = 1.2, 0.75


def idf(chunks: int, frequency: int) -> float:
    """The weight of a term that `frequency` of `chunks` chunks have."""
    return math.log(1 + (chunks - frequency + 0.5) / (frequency + 0.5))


@dataclass(frozen=True)
class WeightedQuery:
    """`weights` by distinct term, unknown terms included; `known` are those that the workspace has.

    `mass` is the sum of the weights: the bound that no chunk's score reaches.
    """

    weights: Mapping[str, float]
    known: frozenset[str]
    mass: float
    average_length: float

    @property
    def terms(self) -> list[str]:
        """The known terms, in the order of their first use."""
        return [term for term in self.weights if term in self.known]

    def score(self, found: Mapping[str, tuple[int, int]]) -> float:
        """BM25 of a chunk, from (frequency, length) of each term that it has."""
        return sum(
            self.weights[term] * frequency / (frequency + K1 * (1 - B + B * length / self.average_length))
            for term, (frequency, length) in found.items()
        )

    def share(self, score: float) -> float:
        """A score as the share of the query's mass, 0 to 1: comparable between queries."""
        return score / self.mass if self.mass else 0.0


def weighted(query: Sequence[str], frequencies: Mapping[str, int], chunks: int, terms: int) -> WeightedQuery:
    """Weighs a query (a repeated term counts again) by the workspace: its `chunks`, and their `terms` in all."""
    weights = {term: count * idf(chunks, frequencies.get(term, 0)) for term, count in Counter(query).items()}
    average = terms / chunks if chunks and terms else 1.0
    return WeightedQuery(weights, frozenset(frequencies), sum(weights.values()), average)
