"""Deletes audit entries older than the deployment's retention."""

from __future__ import annotations

import asyncio

from gateway.audit.entries import DELETED_AT_ONCE, AuditEntries
from service_kit.postgres import Database

EVERY_SECONDS = 3600.0


class AuditRetention:
    """`days` is at least 30: the database refuses to delete younger entries."""

    def __init__(self, database: Database, days: int) -> None:
        self.database, self.days = database, days

    async def run(self) -> None:
        """Deletes old entries hourly, until cancelled. A background task that is safe in several replicas."""
        while True:
            await self.delete_old()
            await asyncio.sleep(EVERY_SECONDS)

    async def delete_old(self) -> int:
        """Deletes old entries; returns how many."""
        total = 0
        while True:
            async with self.database.system() as connection:
                deleted = await AuditEntries(connection).delete_old(self.days)
            total += deleted
            if deleted < DELETED_AT_ONCE:
                return total
