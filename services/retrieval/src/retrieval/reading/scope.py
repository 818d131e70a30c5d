"""Which documents a search is limited to, as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Scope:
    """What the filters left: its documents' numbers (ascending), and how many chunks they have."""

    documents: NDArray[np.int64]
    chunks: int

    def has(self, documents: Sequence[int]) -> NDArray[np.bool_]:
        """Returns which of these numbers are left."""
        return np.isin(np.asarray(documents, np.int64), self.documents)

    @cached_property
    def first(self) -> int:
        """The number that the bitmap begins with."""
        return int(self.documents[0]) if len(self.documents) else 0

    @cached_property
    def bitmap(self) -> bytes:
        """A bit for each number from `first` on, as PostgreSQL's get_bit counts them."""
        if not len(self.documents):
            return b""
        bits = np.zeros(int(self.documents[-1]) - self.first + 1, np.uint8)
        bits[self.documents - self.first] = 1
        return np.packbits(bits, bitorder="little").tobytes()
