"""Does something for all documents that a filter names, a batch in each transaction."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

from contracts.ingestion import ActionResult, DocumentFilter
from ingestion.statements import SQL
from service_kit.postgres import Connection, Database

BATCH = 500


async def for_all(
    database: Database,
    workspace_id: UUID,
    chosen: DocumentFilter,
    act: Callable[[Connection, Sequence[UUID]], Awaitable[int]],
) -> ActionResult:
    """`act` returns for how many of the documents it did something."""
    done = passed_over = 0
    after: UUID | None = None
    while True:
        async with database.workspace(workspace_id) as connection:
            values = {**chosen.model_dump(), "workspace_id": workspace_id, "after": after, "limit": BATCH}
            rows = await (await connection.execute(SQL["choose_documents"], values)).fetchall()
            ids = [UUID(str(row[0])) for row in rows]
            acted = await act(connection, ids) if ids else 0
        done, passed_over = done + acted, passed_over + len(ids) - acted
        if len(ids) < BATCH:
            return ActionResult(done=done, passed_over=passed_over)
        after = ids[-1]
