"""The vectors of an index, and which of them are nearest to a question's.

Up to `EXACT` vectors are all compared. Of more, those with the most equal signs are compared: one bit per dimension is
enough to choose a few thousand among a million (Charikar 2002), and is read 32 times as fast.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memory.recall.growing import GrowingArray

EXACT = 50_000
SHORTLIST = 5_000
_BITS = 64
_NEVER = np.uint16(10_000)  # more signs than any vector has
_AT_ONCE = 10_000
_BLOCK = 500

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


class MemoryVectors:
    """Vectors of length 1, some of which are still missing."""

    def __init__(self, dims: int) -> None:
        self.missing = 0
        self._rows, self._known = GrowingArray(np.float32, dims), GrowingArray(np.bool_)
        self._nothing = np.zeros(dims, np.float32)
        self._signs = np.zeros((-(-dims // _BITS), 0), np.uint64)
        self._unsigned: list[int] = []

    def __len__(self) -> int:
        return len(self._known)

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes + self._signs.nbytes

    def append(self, vectors: Sequence[NDArray[np.float32] | None]) -> None:
        """Appends vectors, or places for them."""
        self._unsigned += range(len(self), len(self) + len(vectors))
        self._rows.append(np.stack([self._nothing if vector is None else vector for vector in vectors]))
        self._known.append([vector is not None for vector in vectors])
        self.missing += sum(vector is None for vector in vectors)

    def put(self, place: int, vector: NDArray[np.float32]) -> None:
        """Replaces the vector at a place."""
        self._unsigned.append(place)
        self.missing -= not self._known.rows[place]
        self._rows.rows[place], self._known.rows[place] = vector, True

    def cosines(self, vector: NDArray[np.float32], places: Places) -> Floats:
        """Returns the cosines of the vectors at these places; 0 where there is none."""
        rows: NDArray[np.float32] = self._rows.rows[places]  # type: ignore[assignment]  # made as such
        return (rows @ vector).astype(np.float64)

    def nearest(self, vector: NDArray[np.float32], count: int, allowed: NDArray[np.bool_] | None) -> Places:
        """Returns the places of the vectors with the largest positive cosines; `allowed` has a value for each place."""
        if len(self) <= EXACT:
            places = np.arange(len(self)) if allowed is None else np.flatnonzero(allowed)
        else:
            places = self._shortlist(vector, self._known.rows.astype(np.bool_) & (True if allowed is None else allowed))
        return places[best(self.cosines(vector, places), count)]

    def _shortlist(self, vector: NDArray[np.float32], allowed: NDArray[np.bool_]) -> Places:
        self._sign()
        differing = np.where(allowed, np.uint16(0), _NEVER)
        asked, counts = _packed(vector), np.zeros(2 * int(_NEVER), np.int64)
        for first in range(0, len(self), _AT_ONCE):  # what is read stays in the processor's cache
            part = differing[first : first + _AT_ONCE]
            for words, signs in zip(self._signs[:, first : first + len(part)], asked, strict=True):
                part += np.bitwise_count(words ^ signs)
            found = np.bincount(part)
            counts[: len(found)] += found
        wanted = min(SHORTLIST, int(np.count_nonzero(allowed)))
        most = int(np.searchsorted(np.cumsum(counts), wanted))
        return np.flatnonzero(differing <= min(most, self._rows.rows.shape[1]))

    def _sign(self) -> None:
        """Computes the signs of vectors that are new since the last question."""
        if len(self) > self._signs.shape[1]:
            grown = np.zeros((len(self._signs), len(self) * 3 // 2), np.uint64)
            grown[:, : self._signs.shape[1]] = self._signs
            self._signs = grown
        for first in range(0, len(self._unsigned), _AT_ONCE):
            places = np.array(self._unsigned[first : first + _AT_ONCE])
            self._signs[:, places] = _packed(self._rows.rows[places]).T
        self._unsigned.clear()


def best(scores: NDArray[np.floating], count: int) -> Places:
    """Returns the positions of the largest positive scores.

    The largest of each block of scores are a bound: as many scores as blocks are at least as large as the smallest.
    """
    least = 0.0
    if len(scores) > _BLOCK * count:
        blocks = scores[: len(scores) // _BLOCK * _BLOCK].reshape(-1, _BLOCK).max(1)
        least = float(np.partition(blocks, -count)[-count])
    at = np.flatnonzero(scores >= least if least > 0 else scores > 0)
    return at if len(at) <= count else at[np.argpartition(-scores[at], count)[:count]]


def _packed(vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Returns the signs of a vector, or of each, as bits of a few integers."""
    bits = np.packbits(vectors > 0, axis=-1)
    padding = [(0, 0)] * (bits.ndim - 1) + [(0, -bits.shape[-1] % 8)]
    return np.pad(bits, padding).view(np.uint64)
