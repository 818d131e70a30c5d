"""A cache of decoded postings. The value of a key never changes, so nothing has to be invalidated: blocks and recent
rows are written once, and a transaction asks for those that it sees.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, Protocol, TypeVar


class Sized(Protocol):
    @property
    def nbytes(self) -> int: ...


Kept = TypeVar("Kept", bound=Sized)


class PostingCache(Generic[Kept]):
    """An LRU cache of up to `largest` bytes. For one event loop."""

    def __init__(self, largest: int) -> None:
        self.largest, self.size = largest, 0
        self._kept: OrderedDict[Hashable, Kept] = OrderedDict()

    def get(self, key: Hashable) -> Kept | None:
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
        return kept

    def put(self, key: Hashable, value: Kept) -> None:
        if key in self._kept:
            return
        self._kept[key] = value
        self.size += value.nbytes
        while self.size > self.largest and len(self._kept) > 1:
            self.size -= self._kept.popitem(last=False)[1].nbytes
