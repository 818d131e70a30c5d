"""Brings the projection up to date with the tables, many changes at a time.

The queue holds each changed thing once, written in the transaction that changed it. The projector writes the current
state of the oldest ones, in one transaction of the projection per workspace, and removes them from the queue only
afterwards: if it dies in between, they are projected again with the same result.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from prometheus_client import Gauge

from contracts.events import DocumentPurged
from knowledge_graph.errors import StoreUnavailable
from knowledge_graph.projection.port import Projection
from knowledge_graph.projection.queue import (
    CHANNEL,
    DOCUMENT,
    ENTITY,
    MENTIONS,
    RELATION,
    WORKSPACE,
    ProjectionQueue,
    ProjectionQueues,
    QueuedChange,
)
from knowledge_graph.projection.state import GraphParts, read_pages, read_parts
from knowledge_graph.recording.provenance import GraphProvenance
from service_kit.notifications import Notifications
from service_kit.outbox import Outbox
from service_kit.postgres import Database

log = logging.getLogger(__name__)
BATCH, MOST_DOCUMENTS = 5_000, 100
RETRY_SECONDS, LONGEST_WAIT_SECONDS = 5.0, 30.0


class Projector:
    """Projects the queue; only one replica at a time, while the others wait."""

    def __init__(
        self, database: Database, projection: Projection, outbox: Outbox, backlog: Gauge | None = None
    ) -> None:
        self.database, self.projection, self.outbox, self.backlog = database, projection, outbox, backlog

    async def run(self, notifications: Notifications) -> None:
        """Runs until cancelled. While the projection's store is down, the queue waits and the service stays ready."""
        async with notifications.subscribe(CHANNEL) as queued:
            is_prepared = False
            while True:
                try:
                    if not is_prepared:
                        await self.projection.prepare()
                        is_prepared = True
                    if not await self.project_batch():
                        await queued.wait(LONGEST_WAIT_SECONDS)
                except StoreUnavailable as error:
                    log.warning("waiting for the projection's store: %s", error)
                    await asyncio.sleep(RETRY_SECONDS)

    async def project_batch(self) -> int:
        """Projects the oldest changes and returns their number; also returns 0 if another replica is projecting."""
        async with self.database.system() as connection:
            queues = ProjectionQueues(connection)
            if not await queues.try_lock():
                return 0
            batch = _few_documents(await queues.oldest(BATCH))
            if self.backlog is not None:
                self.backlog.set(len(batch))
            by_workspace: defaultdict[UUID, list[QueuedChange]] = defaultdict(list)
            for queued in batch:
                by_workspace[queued.workspace_id].append(queued)
            turn = await self._turn()
            for workspace_id, of_workspace in by_workspace.items():
                await self._project(workspace_id, of_workspace, turn)
        return len(batch)

    async def _turn(self) -> int:
        """Returns this projector's number, taken in a short transaction of its own."""
        async with self.database.system() as connection:
            return await ProjectionQueues(connection).turn()

    async def _project(self, workspace_id: UUID, batch: list[QueuedChange], turn: int) -> None:
        whole = next((one for one in batch if one.kind == WORKSPACE), None)
        if whole is not None:
            await self.projection.rebuild(workspace_id, turn, read_pages(self.database, workspace_id))
            await self._finish(workspace_id, [whole])
        rest = [one for one in batch if one.kind != WORKSPACE]
        if rest:
            parts = _parts(rest)
            await self.projection.apply(
                workspace_id, turn, parts, lambda: read_parts(self.database, workspace_id, parts)
            )
            await self._finish(workspace_id, rest)

    async def _finish(self, workspace_id: UUID, batch: Sequence[QueuedChange]) -> None:
        """Removes the batch from the queue, except for what has changed again, and confirms deletions."""
        async with self.database.workspace(workspace_id) as connection:
            for finished in await ProjectionQueue(connection, workspace_id).finish(batch):
                if finished.receipt is None:
                    continue
                document_id = UUID(finished.id)
                left = await GraphProvenance(connection, workspace_id).remaining([document_id])
                projected = await self.projection.mentions_of(workspace_id, document_id)
                purged = DocumentPurged(
                    document_id=document_id,
                    service="knowledge-graph",
                    removed=finished.receipt,
                    remaining={**left[document_id], f"{self.projection.name}_mentions": projected},
                )
                await self.outbox.write(connection, workspace_id, purged, finished.id)


def _few_documents(batch: list[QueuedChange]) -> list[QueuedChange]:
    """Bounds the batch: the projection may hold a transaction in memory, and a document can have many mentions."""
    documents = [place for place, one in enumerate(batch) if one.kind == DOCUMENT]
    return batch[: documents[MOST_DOCUMENTS - 1] + 1] if len(documents) > MOST_DOCUMENTS else batch


def _parts(batch: Sequence[QueuedChange]) -> GraphParts:
    return GraphParts(
        entities={one.id for one in batch if one.kind == ENTITY},
        pairs={(one.id, one.other) for one in batch if one.kind == RELATION},
        documents={one.id for one in batch if one.kind == DOCUMENT},
        mentions={(one.id, one.other) for one in batch if one.kind == MENTIONS},
    )
