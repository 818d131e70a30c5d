"""The documents that a search is limited to, by number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Scope:
    """The documents that pass the filters: their numbers (ascending), and how many chunks they have."""

    documents: NDArray[np.int64]
    chunks: int

    def has(self, documents: Sequence[int]) -> NDArray[np.bool_]:
        """Returns for each number whether the document is in the scope."""
        return np.isin(np.asarray(documents, np.int64), self.documents)

    @cached_property
    def first(self) -> int:
        """The document number of the bitmap's first bit."""
        return int(self.documents[0]) if len(self.documents) else 0

    @cached_property
    def bitmap(self) -> bytes:
        """One bit per document number from `first` on, in the bit order of PostgreSQL's get_bit."""
        if not len(self.documents):
            return b""
        bits = np.zeros(int(self.documents[-1]) - self.first + 1, np.uint8)
        bits[self.documents - self.first] = 1
        return np.packbits(bits, bitorder="little").tobytes()
