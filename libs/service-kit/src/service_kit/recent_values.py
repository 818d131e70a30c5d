"""The last few values of a computation, by key."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

REMEMBERED = 1024
V = TypeVar("V")


class RecentValues(Generic[V]):
    """The values that were put last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, V] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable) -> V | None:
        """Returns the key's value, if it is still known."""
        return self._kept.get(key)

    def put(self, key: Hashable, value: V) -> None:
        """Sets the key's value, and forgets the oldest if there are too many."""
        self._kept[key] = value
        if len(self._kept) > REMEMBERED:
            self._kept.popitem(last=False)
