"""Rows that were read lately, in memory: of one state of a workspace, the rows of a key never change."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
MOST_ROWS = 20_000  # of at most some 2 kB


class KnownRows(Generic[K, V]):
    """The rows by key, at most `most` in all: those of the states that were read from last, and of one state those
    that were read last. An empty answer counts as a row, too.

    A `state` names the workspace and all that its rows depend on, so that nothing has to be invalidated. For one event
    loop.
    """

    def __init__(self, most: int = MOST_ROWS) -> None:
        self.most, self.size = most, 0
        self._kept: OrderedDict[Hashable, dict[K, Sequence[V]]] = OrderedDict()

    async def find(
        self,
        state: Hashable,
        keys: Iterable[K],
        read: Callable[[Sequence[K]], Awaitable[Iterable[tuple[K, V]]]],
    ) -> dict[K, Sequence[V]]:
        """Returns the rows of each key, in the order of the keys; `read` reads the rows of those that are not known."""
        wanted = dict.fromkeys(keys)
        known = self._kept.get(state, {})
        found = {key: known[key] for key in wanted if key in known}
        if missing := [key for key in wanted if key not in found]:
            rows: dict[K, list[V]] = {key: [] for key in missing}
            for key, row in await read(missing):
                rows[key].append(row)
            found |= rows
            self._keep(state, rows)
        return {key: found[key] for key in wanted}

    def _keep(self, state: Hashable, rows: Mapping[K, Sequence[V]]) -> None:
        kept = self._kept.setdefault(state, {})
        self._kept.move_to_end(state)
        for key, some in rows.items():
            if key not in kept:  # another search may have read it, too
                kept[key] = some
                self.size += max(1, len(some))
        while self.size > self.most:
            oldest = next(iter(self._kept))
            if own := self._kept[oldest]:
                self.size -= max(1, len(own.pop(next(iter(own)))))
            else:
                del self._kept[oldest]
