"""Fair turns at searching: no workspace's searches make those of another wait for long. No IO."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from uuid import UUID

MOST = 4  # searches at once, in one process
ACTIVE_SECONDS = 2.0  # a workspace keeps its share for this long after its last search


class SearchTurns:
    """Admits MOST concurrent searches of a workspace while it is the only active one, else one of each workspace.

    So a search competes with one of each other workspace, however many of theirs are waiting.
    """

    def __init__(self, most: int = MOST, now: Callable[[], float] = time.monotonic) -> None:
        self.most, self.now = most, now
        self.running: Counter[UUID] = Counter()
        self.waiting: dict[UUID, deque[asyncio.Future[None]]] = {}
        self.last: dict[UUID, float] = {}

    @asynccontextmanager
    async def turn(self, workspace_id: UUID) -> AsyncIterator[None]:
        """Waits for the workspace's turn and holds it until the block ends."""
        self.last[workspace_id] = self.now()
        if workspace_id in self.waiting or self.running[workspace_id] >= self._share():
            await self._wait(workspace_id)
        else:
            self.running[workspace_id] += 1
        try:
            yield
        finally:
            self._end(workspace_id)

    def _share(self) -> int:
        """Returns how many searches of each workspace may run now."""
        oldest = self.now() - ACTIVE_SECONDS
        self.last = {one: at for one, at in self.last.items() if at >= oldest or self.running[one]}
        return self.most if len(self.last.keys() | self.waiting.keys()) <= 1 else 1

    async def _wait(self, workspace_id: UUID) -> None:
        queue = self.waiting.setdefault(workspace_id, deque())
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if not mine.cancelled():
                self._end(workspace_id)  # the turn came at the same moment
            elif mine in queue:
                queue.remove(mine)
                self._forget_empty(workspace_id, queue)
            raise

    def _end(self, workspace_id: UUID) -> None:
        self.last[workspace_id] = self.now()
        self.running[workspace_id] -= 1
        if not self.running[workspace_id]:
            del self.running[workspace_id]
        share = self._share()
        for one in list(self.waiting):
            while one in self.waiting and self.running[one] < share:
                queue = self.waiting[one]
                first = queue.popleft()
                if not first.cancelled():
                    self.running[one] += 1
                    first.set_result(None)
                self._forget_empty(one, queue)

    def _forget_empty(self, workspace_id: UUID, queue: deque[asyncio.Future[None]]) -> None:
        if not queue and self.waiting.get(workspace_id) is queue:
            del self.waiting[workspace_id]
