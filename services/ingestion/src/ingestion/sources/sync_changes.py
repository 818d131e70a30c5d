"""The list of changes that a synchronisation made, or would make in a dry run, file by file."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from uuid import UUID

from contracts.sources import MAX_LISTED_CHANGES, SyncAction
from ingestion.sources.syncs import HeldSync, Syncs
from service_kit.postgres import Database

BATCH = 100


@dataclass(frozen=True)
class ItemChange:
    action: SyncAction
    path: str
    document_id: UUID | None = None
    file_size: int | None = None
    message: str | None = None


class ChangeList:
    """Writes changes in batches; beyond MAX_LISTED_CHANGES they are only counted.

    `earlier` has the paths that earlier attempts have already recorded.
    """

    def __init__(self, database: Database, held: HeldSync) -> None:
        self.database, self.held = database, held
        self.earlier: dict[str, SyncAction] = {}
        self.written, self.waiting = 0, list[ItemChange]()

    async def resume(self) -> None:
        """Reads every change that earlier attempts made, except refusals, which this attempt finds again."""
        async with self.database.workspace(self.held.workspace_id) as connection:
            rows = await Syncs(connection, self.held.workspace_id).resume_changes(self.held)
        self.earlier = {row.path: SyncAction(row.action) for row in rows}
        self.written = max((row.position for row in rows), default=0)

    async def add(self, change: ItemChange) -> None:
        self.waiting.append(change)
        if len(self.waiting) >= BATCH:
            await self.flush()

    async def flush(self) -> None:
        batch, self.waiting = self.waiting, []
        listed = batch[: max(MAX_LISTED_CHANGES - self.written, 0)]
        if not listed:
            return
        rows = [{"position": at, **asdict(one)} for at, one in enumerate(listed, self.written + 1)]
        self.written += len(listed)
        async with self.database.workspace(self.held.workspace_id) as connection:
            await Syncs(connection, self.held.workspace_id).insert_changes(self.held, rows)
