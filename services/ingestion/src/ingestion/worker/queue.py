"""What a worker does next, and what it holds meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from contracts.ingestion import Lane
from ingestion.documents.rows import ClaimedStage, HeldStage
from ingestion.worker.holding import Holding, Shutdown
from ingestion.worker.stages import StageRecords
from service_kit.work import WorkQueue


class StageQueue:
    """Chooses when a slot is free and not before: no worker keeps waiting what another could begin.

    Called from threads; `loop` is that of the queue's connections.
    """

    def __init__(
        self,
        queue: WorkQueue[ClaimedStage],
        loop: asyncio.AbstractEventLoop,
        stages: StageRecords,
        is_closed: Callable[[], bool],
    ) -> None:
        """Nothing is taken any more once `is_closed` says so."""
        self.queue, self.loop, self.stages, self.is_closed = queue, loop, stages, is_closed

    def take(self, lanes: Sequence[Lane]) -> HeldStage | None:
        """Leases what comes next, lane by lane, fairly between workspaces; None when nothing is due."""
        for lane in lanes:
            while claimed := self._claim(lane):
                if job := self.stages.begin(claimed):
                    return job
        return None

    def hold(self, job: HeldStage, shutdown: Shutdown) -> Holding:
        return Holding(self.queue, self.loop, job, shutdown)

    def _claim(self, lane: Lane) -> ClaimedStage | None:
        if self.is_closed():
            return None
        claimed = asyncio.run_coroutine_threadsafe(self.queue.claim(1, lane=lane), self.loop).result()
        return claimed[0] if claimed else None
