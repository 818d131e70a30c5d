"""Arrays that can be appended to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike, NDArray

FIRST = 64


class GrowingArray:
    """A numpy array of one or two dimensions whose rows are appended in amortized constant time."""

    def __init__(self, dtype: DTypeLike, width: int | None = None) -> None:
        self._rows = np.zeros((FIRST,) if width is None else (FIRST, width), dtype)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def rows(self) -> NDArray[np.generic]:
        """Returns a view of the appended rows, which may be written to."""
        return self._rows[: self._count]

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes

    def append(self, values: Sequence[object] | NDArray[np.generic]) -> None:
        needed = self._count + len(values)
        if needed > len(self._rows):
            grown = np.zeros((max(needed, len(self._rows) * 3 // 2), *self._rows.shape[1:]), self._rows.dtype)
            grown[: self._count] = self._rows[: self._count]
            self._rows = grown
        self._rows[self._count : needed] = values
        self._count = needed
