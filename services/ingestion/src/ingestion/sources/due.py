"""What time brings: sources that are due are queued, and those that were not seen for too long make documents stale."""

from __future__ import annotations

from ingestion.sources.statements import SQL
from service_kit.postgres import Database

BATCH = 200


async def queue_due(database: Database) -> int:
    """Returns how many were queued. Safe beside other schedulers."""
    async with database.system() as connection:
        return (await connection.execute(SQL["queue_due_syncs"], {"limit": BATCH})).rowcount


async def mark_stale(database: Database) -> int:
    """Returns how many documents became stale."""
    async with database.system() as connection:
        rows = await (await connection.execute(SQL["unseen_sources"], {"limit": BATCH})).fetchall()
    marked = 0
    for workspace_id, source_id in rows:
        key = {"workspace_id": workspace_id, "source_id": source_id}
        async with database.workspace(workspace_id) as connection:
            if (await connection.execute(SQL["mark_source_stale"], key)).rowcount:
                marked += (await connection.execute(SQL["mark_documents_stale"], key)).rowcount
    return marked
