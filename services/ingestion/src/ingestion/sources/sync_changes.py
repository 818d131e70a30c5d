"""The list of what a synchronisation did, or in a dry run would do, file by file."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from contracts.sources import MAX_LISTED_CHANGES, SyncAction
from ingestion.sources.queue import HeldSync
from ingestion.sources.statements import SQL
from service_kit.postgres import Connection, Database

BATCH = 100


@dataclass(frozen=True)
class Change:
    action: SyncAction
    path: str
    document_id: UUID | None = None
    file_size: int | None = None
    message: str | None = None


class ChangeList:
    """Written in batches; what is beyond MAX_LISTED_CHANGES is only counted.

    `earlier` are the paths that an attempt before this one has entered already.
    """

    def __init__(self, database: Database, held: HeldSync) -> None:
        self.database, self.held = database, held
        self.earlier: dict[str, SyncAction] = {}
        self.written, self.waiting = 0, list[Change]()

    async def resume(self) -> None:
        """Reads what an earlier attempt has done, to the last file; its refusals are found again."""
        async with self.database.workspace(self.held.workspace_id) as connection:
            await connection.execute(SQL["forget_refusals"], self.held.key)
            await connection.execute(SQL["recover_changes"], self.held.key)
            cursor = await connection.execute(SQL["earlier_changes"], self.held.key)
            rows = await cursor.fetchall()
        self.earlier = {path: SyncAction(action) for _, action, path in rows}
        self.written = max((position for position, _, _ in rows), default=0)

    async def add(self, change: Change) -> None:
        self.waiting.append(change)
        if len(self.waiting) >= BATCH:
            await self.flush()

    async def flush(self) -> None:
        batch, self.waiting = self.waiting, []
        listed = batch[: max(MAX_LISTED_CHANGES - self.written, 0)]
        if not listed:
            return
        start = self.written + 1
        self.written += len(listed)
        async with self.database.workspace(self.held.workspace_id) as connection:
            await self._write(connection, listed, start)

    async def _write(self, connection: Connection, listed: list[Change], start: int) -> None:
        rows = [
            {**self.held.key, "position": position, "action": one.action, "path": one.path,
             "document_id": one.document_id, "file_size": one.file_size, "message": one.message}
            for position, one in enumerate(listed, start)
        ]  # fmt: skip
        await connection.cursor().executemany(SQL["insert_change"], rows)
