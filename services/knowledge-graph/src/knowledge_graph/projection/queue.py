"""The queue of changes to project, written in the transaction that made the change.

It is a coalescing batch queue and not leased work (`service_kit.work`): a thing that changes again replaces its row, a
batch of thousands is one transaction of the projection, and one process at a time projects, under an advisory lock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from knowledge_graph.recording.changes import Changes
from service_kit.postgres import Connection
from service_kit.repository import Repository, SystemRepository
from service_kit.statements import Statements

WORKSPACE, ENTITY, RELATION, MENTIONS, DOCUMENT = "workspace", "entity", "relation", "mentions", "document"
CHANNEL = "knowledge_graph_projection"


@dataclass(frozen=True)
class QueuedChange:
    workspace_id: UUID
    kind: str
    id: str
    other: str
    sequence: int
    receipt: dict[str, int] | None


@dataclass(frozen=True)
class FinishedChange:
    id: str
    receipt: dict[str, int] | None


class ProjectionQueueSql(Statements, file="queue.sql"):
    add: str
    oldest: str
    finish: str
    raise_version: str
    add_workspaces: str
    add_workspace: str
    is_empty: str
    workspaces: str
    graphed_workspaces: str
    try_lock: str
    lock: str
    turn: str


class ProjectionQueue(Repository):
    """The queue of one workspace."""

    async def add(self, changes: Changes, receipts: Mapping[UUID, dict[str, Any]]) -> None:
        """Queues the changes; `receipts` of deletions are confirmed once the projection has caught up."""
        documents: Mapping[UUID, Jsonb | None]
        documents = {one: Jsonb(receipt) for one, receipt in receipts.items()} or dict.fromkeys(changes.document_ids)
        rows: list[tuple[str, str, str, Jsonb | None]] = [
            *((ENTITY, one, "", None) for one in sorted(changes.entities)),
            *((RELATION, *pair, None) for pair in sorted(changes.pairs)),
            *((MENTIONS, str(document), entity, None) for entity, document in sorted(changes.mentioned)),
            # Last: once it is projected, everything queued with it has been projected too.
            *((DOCUMENT, str(one), "", receipt) for one, receipt in documents.items()),
        ]
        kinds, ids, others, told = map(list, zip(*rows, strict=True))
        await self.run(ProjectionQueueSql.add, kinds=kinds, ids=ids, others=others, receipts=told)

    async def add_workspace(self) -> None:
        """Queues the whole workspace, once."""
        await self.run(ProjectionQueueSql.add_workspace)

    async def finish(self, batch: Sequence[QueuedChange]) -> list[FinishedChange]:
        """Deletes the projected changes, unless they changed again meanwhile; returns what was deleted."""
        await self.run(ProjectionQueueSql.raise_version)
        return await self.all(
            ProjectionQueueSql.finish,
            FinishedChange,
            kinds=[one.kind for one in batch],
            ids=[one.id for one in batch],
            others=[one.other for one in batch],
            sequences=[one.sequence for one in batch],
        )


class ProjectionQueues(SystemRepository):
    """The queues of all workspaces."""

    async def oldest(self, limit: int) -> list[QueuedChange]:
        return await self.all(ProjectionQueueSql.oldest, QueuedChange, limit=limit)

    async def add_workspaces(self, workspace_id: UUID | None) -> set[UUID]:
        """Queues the workspace, or all that have documents, for a full projection; returns those that were queued."""
        return set(await self.values(ProjectionQueueSql.add_workspaces, workspace_id=workspace_id))

    async def is_empty(self, workspace_id: UUID | None = None) -> bool:
        return bool(await self.value(ProjectionQueueSql.is_empty, workspace_id=workspace_id))

    async def workspaces(self) -> set[UUID]:
        """Returns the workspaces with unprojected changes."""
        return set(await self.values(ProjectionQueueSql.workspaces))

    async def graphed_workspaces(self) -> set[UUID]:
        return set(await self.values(ProjectionQueueSql.graphed_workspaces))

    async def try_lock(self) -> bool:
        """Takes the projector's lock until the transaction ends; returns False if another process has it."""
        return bool(await self.value(ProjectionQueueSql.try_lock, channel=CHANNEL))

    async def lock(self) -> None:
        """Waits for the projector's lock."""
        await self.value(ProjectionQueueSql.lock, channel=CHANNEL)

    async def turn(self) -> int:
        """Returns a number greater than that of every earlier projector."""
        return int(await self.value(ProjectionQueueSql.turn))


async def queue(
    connection: Connection,
    workspace_id: UUID,
    changes: Changes,
    receipts: Mapping[UUID, dict[str, Any]] | None = None,
    *,
    projects: bool,
) -> None:
    """Queues the changes; without a projection, only that the workspace changed, in case one is added later."""
    if projects:
        await ProjectionQueue(connection, workspace_id).add(changes, receipts or {})
    else:
        await ProjectionQueue(connection, workspace_id).add_workspace()
