"""Graphs documents again after their results were added or deleted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from uuid import UUID

from knowledge_graph.refinement.records import HeldRegraph
from knowledge_graph.refinement.store import RefinementChunks
from service_kit.work import WorkQueue
from service_kit.worker import uninterrupted, while_held


class Regrapher:
    """Processes the queue of documents. `regraph` does nothing for a deleted document."""

    def __init__(self, queue: WorkQueue[HeldRegraph], regraph: Callable[[UUID, UUID], Awaitable[None]]) -> None:
        self.queue, self.regraph = queue, regraph

    async def execute(self, held: HeldRegraph) -> None:
        """Graphs the document if its graph is out of date. If that fails, the lease expires and the work is retried."""
        try:
            await while_held(self.queue, held, self._regraph(held))
        except asyncio.CancelledError:
            await uninterrupted(self._release(held))
            raise
        async with self.queue.database.workspace(held.workspace_id) as connection:
            if not await RefinementChunks(connection, held.workspace_id).delete_queued(held):
                await self.queue.release(connection, held, refund=True)

    async def _regraph(self, held: HeldRegraph) -> None:
        async with self.queue.database.workspace(held.workspace_id) as connection:
            chunks = RefinementChunks(connection, held.workspace_id)
            is_unapplied = await chunks.is_unapplied(held.document_id)
        if is_unapplied:
            await self.regraph(held.workspace_id, held.document_id)

    async def _release(self, held: HeldRegraph) -> None:
        async with self.queue.database.workspace(held.workspace_id) as connection:
            await self.queue.release(connection, held, refund=True)
