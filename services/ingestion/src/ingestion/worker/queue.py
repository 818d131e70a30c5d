"""Chooses a worker's next stage, and holds it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from contracts.ingestion import Lane
from ingestion.documents.rows import ClaimedStage, HeldStage
from ingestion.worker.holding import Holding, Shutdown
from ingestion.worker.stages import StageRecords
from service_kit.work import WorkQueue


class StageQueue:
    """Leases a stage only when a slot is free, so that no worker holds one that another could start.

    Called from threads; `loop` is the event loop of the queue's connections.
    """

    def __init__(
        self,
        queue: WorkQueue[ClaimedStage],
        loop: asyncio.AbstractEventLoop,
        stages: StageRecords,
        is_closed: Callable[[], bool],
    ) -> None:
        """Once `is_closed` returns True, nothing more is taken."""
        self.queue, self.loop, self.stages, self.is_closed = queue, loop, stages, is_closed

    def take(self, lanes: Sequence[Lane]) -> HeldStage | None:
        """Leases the next stage, lane by lane and fairly between workspaces; returns None if nothing is due."""
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
