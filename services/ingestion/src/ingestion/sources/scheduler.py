"""Queues sources that are due, and marks documents as stale if their source has not been seen for too long."""

from __future__ import annotations

import asyncio
import logging

from ingestion.sources.sources import AllSources, Sources
from ingestion.sources.syncs import AllSyncs
from service_kit.postgres import Database

log = logging.getLogger(__name__)
LOCK = "ingestion/scheduler"
BATCH = 200


class Scheduler:
    """A background task of the API process. One replica schedules at a time; if it ends, another takes over."""

    def __init__(self, database: Database, every_seconds: float) -> None:
        self.database, self.every_seconds = database, every_seconds

    async def run(self) -> None:
        """Runs until cancelled."""
        while True:
            await self.schedule()
            await asyncio.sleep(self.every_seconds)

    async def schedule(self) -> None:
        """Runs once; does nothing while another replica is scheduling."""
        async with self.database.system() as connection:
            row = await (await connection.execute("SELECT pg_try_advisory_xact_lock(hashtext(%s))", (LOCK,))).fetchone()
            if row is None or not row[0]:
                return
            queued = await AllSyncs(connection).queue_due(BATCH)
            unseen = await AllSources(connection).unseen(BATCH)
        stale = 0
        for source in unseen:
            async with self.database.workspace(source.workspace_id) as connection:
                stale += await Sources(connection, source.workspace_id).mark_stale(source.id)
        if queued or stale:
            log.info("sources scheduled", extra={"queued": queued, "stale_documents": stale})
