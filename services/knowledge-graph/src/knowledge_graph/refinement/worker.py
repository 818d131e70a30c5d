"""The background tasks: runs are worked off, and documents take up what was found."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from uuid import UUID

from knowledge_graph.refinement.records import ClaimedRun
from knowledge_graph.refinement.run_work import RunWork
from knowledge_graph.refinement.work_store import WorkStore
from service_kit.notifications import Notifications
from service_kit.problems import WorkspaceGone

log = logging.getLogger(__name__)
CHANNEL = "knowledge_graph_refinement"
RUNS_AT_ONCE = 4
LONGEST_WAIT_SECONDS = 5.0
APPLY_LEASE_SECONDS = 120.0
BROKEN_DELAY_SECONDS = 60.0


class RefinementWorker:
    """Takes runs of all workspaces; a long one keeps no other waiting."""

    def __init__(self, store: WorkStore, notifications: Notifications, work: Callable[[ClaimedRun], RunWork]) -> None:
        self.store, self.notifications, self.work = store, notifications, work
        self.working: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Until cancelled; what it works on then is free for another process at once."""
        try:
            async with self.notifications.subscribe(CHANNEL) as wake:
                while True:
                    while len(self.working) < RUNS_AT_ONCE and (claimed := await self.store.claim()):
                        task = asyncio.create_task(self._execute(claimed))
                        self.working.add(task)
                        task.add_done_callback(self.working.discard)
                        task.add_done_callback(lambda _: wake.event.set())
                    await wake.wait(LONGEST_WAIT_SECONDS)
        finally:
            working = list(self.working)
            for task in working:
                task.cancel()
            if working:
                await asyncio.wait(working)

    async def _execute(self, run: ClaimedRun) -> None:
        try:
            await self.work(run).execute()
        except WorkspaceGone:
            log.info("the workspace was deleted during its refinement", extra={"run_id": str(run.id)})
        except Exception as error:  # the boundary of a run: it is taken up again, and shows the error
            log.exception("refinement broke off", extra={"run_id": str(run.id)})
            await self.store.release(
                run,
                "queued" if run.outages < 5 else "failed",
                error=f"{type(error).__name__} (a defect or a store that is away)",
                outage=True,
                delay_seconds=BROKEN_DELAY_SECONDS,
            )


class ResultApplier:
    """Graphs documents anew whose results came or went. `regraph` does nothing for a document that is gone."""

    def __init__(
        self, store: WorkStore, notifications: Notifications, regraph: Callable[[UUID, UUID], Awaitable[None]]
    ) -> None:
        self.store, self.notifications, self.regraph = store, notifications, regraph

    async def run(self) -> None:
        """Until cancelled. A document that cannot be graphed is tried again later, and keeps no other waiting."""
        async with self.notifications.subscribe(CHANNEL) as wake:
            while True:
                if not await self.apply_next():
                    await wake.wait(LONGEST_WAIT_SECONDS)

    async def apply_next(self) -> bool:
        """False when no document waits."""
        queued = await self.store.claim_queued(APPLY_LEASE_SECONDS)
        if queued is None:
            return False
        try:
            if await self.store.is_unapplied(queued.workspace_id, queued.document_id):
                await self.regraph(queued.workspace_id, queued.document_id)
        except Exception:  # the boundary of one document: its row stays, and is tried again when its lease ends
            log.exception("a document is not graphed with its refinement yet", extra={"of": str(queued.document_id)})
        else:
            await self.store.finish_queued(queued)
        return True
