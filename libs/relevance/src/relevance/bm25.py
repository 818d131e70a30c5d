"""BM25 (Robertson, Zaragoza 2009) over words that may match several terms, with the IDF of Lucene, which is never
negative, and without the constant factor k1 + 1. No IO.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

K1, B = 1.2, 0.75
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Parameters:
    """Parameters of BM25. `k1` >= 0: how much a repeated term adds. `b`, 0 to 1: how much a long chunk loses."""

    k1: float = K1
    b: float = B


@dataclass(frozen=True)
class QueryWord:
    """A word that a query has `count` times, and the terms that it is searched for by, each with a factor up to 1.

    Of the terms that a chunk has, the one that scores best counts.
    """

    terms: Mapping[str, float]
    count: int = 1


@dataclass(frozen=True)
class WeightedWord:
    """A word with its `weights` by known term. `mass`: the most that it can weigh; an unknown word has one too."""

    word: QueryWord
    weights: Mapping[str, float]
    mass: float


@dataclass(frozen=True)
class WeightedQuery:
    """A query's `words`, in its order, with their weights. `mass`: the bound that no chunk's score reaches."""

    words: Sequence[WeightedWord]
    average_length: float
    parameters: Parameters = field(default_factory=Parameters)

    @cached_property
    def mass(self) -> float:
        return math.fsum(word.mass for word in self.words)

    @cached_property
    def weights(self) -> dict[str, float]:
        """The weights of terms for highlights; if no chunk has a word, its terms weigh as much as the word."""
        weights: dict[str, float] = {}
        for word in self.words:
            for term in word.word.terms:
                weights[term] = max(weights.get(term, 0.0), word.weights.get(term, 0.0 if word.weights else word.mass))
        return weights

    @cached_property
    def known(self) -> frozenset[str]:
        """The terms that at least one chunk has."""
        return frozenset(term for word in self.words for term in word.weights)

    def share(self, score: float) -> float:
        """Returns a score as the share of the query's mass, 0 to 1, which is comparable between queries."""
        return score / self.mass if self.mass else 0.0

    def saturation(self, frequencies: NDArray[np.integer], lengths: NDArray[np.integer]) -> Floats:
        """Returns the share of a term's weight that each chunk gets, 0 to 1."""
        k1, b = self.parameters.k1, self.parameters.b
        found: Floats = frequencies / (frequencies + (k1 * (1 - b) + k1 * b / self.average_length * lengths))
        return found


def idf(chunks: int, frequency: int) -> float:
    """Returns the weight of a term that `frequency` of `chunks` chunks have."""
    return math.log(1 + (chunks - frequency + 0.5) / (frequency + 0.5))


def weighted(
    words: Sequence[QueryWord],
    frequencies: Mapping[str, int],
    chunks: int,
    terms: int,
    parameters: Parameters | None = None,
) -> WeightedQuery:
    """Weighs a query by the workspace: its `chunks`, their `terms` in all, and how many chunks have each term.

    A word weighs as an unknown one if no chunk has its own terms (those of factor 1), even if others replace it.
    """
    found = []
    for word in words:
        known = [term for term in word.terms if frequencies.get(term)]
        weights = {term: word.count * word.terms[term] * idf(chunks, frequencies[term]) for term in known}
        own = [weights[term] for term in known if word.terms[term] == 1.0]
        found.append(WeightedWord(word, weights, max(own, default=word.count * idf(chunks, 0))))
    average = terms / chunks if chunks and terms else 1.0
    return WeightedQuery(found, average, parameters or Parameters())
