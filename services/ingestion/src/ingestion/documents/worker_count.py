"""Which workers there are, for the API."""

from __future__ import annotations

from psycopg.rows import scalar_row

from ingestion.statements import SQL
from service_kit.postgres import Database


async def count_workers(database: Database, lease_seconds: float) -> int:
    """Those that gave a sign of life within the lease. A transaction of its own, as no workspace may see workers."""
    async with database.system() as connection:
        cursor = connection.cursor(row_factory=scalar_row)
        await cursor.execute(SQL["count_workers"], {"lease": lease_seconds})
        return int(await cursor.fetchone() or 0)
