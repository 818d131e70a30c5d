"""BM25 over messages, each with a bag of weighted words that includes those of the messages around it.

The message's own words have weight 1, those of the message before it .5, and so on (`AROUND`): simple weighted fields
(Robertson, Zaragoza, Taylor 2004). Document frequencies count only the messages themselves. Scores of all messages are
single precision: among a million, a question waits for memory, not for arithmetic.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memory.recall.growing import GrowingArray
from relevance.bm25 import idf

AROUND = {0: 1.0, -1: 0.5, -2: 0.3, 1: 0.2}
"""Weight of a neighbour's words in a message's bag, by the neighbour's position relative to the message."""
K1, B = 0.9, 0.4
RARE = 20
"""The postings of terms in fewer than one of so many messages are sorted; others are summed for all at once."""

Floats = NDArray[np.float64]
Shares = NDArray[np.float32]


class Bags:
    """The bags of all messages, which are appended one by one."""

    def __init__(self) -> None:
        self.frequency: Counter[str] = Counter()
        self._rows: dict[str, array[int]] = {}
        self._weights: dict[str, array[float]] = {}
        self._lengths, self._total = GrowingArray(np.float64), 0.0
        self._saturated: Shares | None = None
        self._postings = 0

    def __len__(self) -> int:
        return len(self._lengths)

    def append(self, counts: Mapping[str, int], around: Sequence[tuple[int, Mapping[str, int]]]) -> None:
        """Appends a message; `around`: the rows before it in the session, nearest first, with their words."""
        row, self._saturated = len(self), None
        self._lengths.append([0.0])
        self.frequency.update(counts.keys())
        self._add(row, counts, AROUND[0])
        for distance, (before, words) in enumerate(around, 1):
            if (weight := AROUND.get(-distance)) is not None:
                self._add(row, words, weight)
            if (weight := AROUND.get(distance)) is not None:
                self._add(before, counts, weight)

    def shares(self, terms: Sequence[str]) -> Shares:
        """Returns the BM25 score of every message as a share of the most that the terms could give, 0 to 1."""
        scores, ideal = np.zeros(len(self), np.float32), 0.0
        if not len(self):
            return scores
        mean = max(self._total / len(self), 1e-9)
        lengths: Floats = self._lengths.rows  # type: ignore[assignment]  # made as such
        for term, count in Counter(terms).items():
            weight = count * idf(len(self), self.frequency[term])
            ideal += weight
            if (rows := self._rows.get(term)) is None:
                continue
            places, weights = np.frombuffer(rows, np.int32), np.frombuffer(self._weights[term], np.float32)
            if RARE * len(places) < len(self):
                held, at = np.unique(places, return_inverse=True)
                counts = np.bincount(at, weights)
                scores[held] += weight * counts / (counts + _saturation(lengths[held], mean))
            else:
                share = np.zeros(len(self), np.float32)
                np.add.at(share, places, weights)
                share /= share + self._saturation_of_all(lengths, mean)
                share *= np.float32(weight)
                scores += share
        scores /= np.float32(max(ideal, 1e-9))
        return scores

    def _saturation_of_all(self, lengths: Floats, mean: float) -> Shares:
        """Returns the saturation in every message, computed once after each change."""
        if self._saturated is None:
            self._saturated = _saturation(lengths, mean).astype(np.float32)
        return self._saturated

    @property
    def nbytes(self) -> int:
        return 2 * self._lengths.nbytes + 150 * len(self._rows) + 8 * self._postings

    def _add(self, row: int, counts: Mapping[str, int], weight: float) -> None:
        for term, count in counts.items():
            if (rows := self._rows.get(term)) is None:
                rows = self._rows[term] = array("i")
                self._weights[term] = array("f")
            rows.append(row)
            self._weights[term].append(count * weight)
        self._postings += len(counts)
        length = weight * sum(counts.values())
        self._lengths.rows[row] += length
        self._total += length


def _saturation(lengths: Floats, mean: float) -> Floats:
    """Returns how slowly a term's count saturates in messages of these lengths."""
    found: Floats = K1 * (1 - B + B * lengths / mean)
    return found
