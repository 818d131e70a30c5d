"""A cache of decoded postings. The value of a key never changes, so nothing has to be invalidated: blocks and recent
rows are written once, and a transaction asks for those that it sees.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any


class PostingCache:
    """An LRU cache of values of up to `largest` bytes (`nbytes`) in all. For one event loop."""

    def __init__(self, largest: int) -> None:
        self.largest, self.size = largest, 0
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()

    def get(self, key: Hashable) -> Any:
        """Returns the key's value; None if there is none."""
        if (kept := self._kept.get(key)) is not None:
            self._kept.move_to_end(key)
        return kept

    def put(self, key: Hashable, value: Any) -> None:
        if key in self._kept:
            return
        self._kept[key] = value
        self.size += value.nbytes
        while self.size > self.largest and len(self._kept) > 1:
            self.size -= self._kept.popitem(last=False)[1].nbytes
