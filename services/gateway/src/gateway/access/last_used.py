"""Records when keys were last used: noted at each request, written in the background at most once a minute."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from uuid import UUID

import psycopg

from gateway.accounts.caller import Authenticated
from gateway.accounts.keys import KeysOfAllWorkspaces
from service_kit.postgres import Database
from service_kit.problems import Unavailable

log = logging.getLogger(__name__)
INTERVAL = timedelta(minutes=1)


class LastUsed:
    def __init__(self, database: Database) -> None:
        self.database = database
        self.noted: dict[tuple[UUID, UUID], datetime] = {}
        self.pending: dict[tuple[UUID, UUID], datetime] = {}
        self.wake = asyncio.Event()

    def note(self, caller: Authenticated) -> None:
        """Notes the use of a key; a web session records its own."""
        if caller.key_id is None:
            return
        key, now = (caller.workspace.id, caller.key_id), datetime.now(UTC)
        if now - self.noted.get(key, datetime.min.replace(tzinfo=UTC)) >= INTERVAL:
            self.noted[key] = self.pending[key] = now
            self.wake.set()

    async def run(self) -> None:
        """Writes until cancelled. A failed write is repeated with the next use of any key."""
        while True:
            await self.wake.wait()
            self.wake.clear()
            await self.write()

    async def close(self) -> None:
        """Writes what is left. An unreachable database does not make the shutdown fail."""
        try:
            await self.write()
        except (psycopg.Error, Unavailable) as error:
            log.warning("could not record when keys were last used", extra={"error": repr(error)})

    async def write(self) -> None:
        if not self.pending:
            return
        batch, self.pending = self.pending, {}
        oldest = datetime.now(UTC) - INTERVAL
        self.noted = {key: at for key, at in self.noted.items() if at > oldest}
        try:
            async with self.database.system() as connection:
                # the same order in all replicas, to avoid deadlocks
                uses = [{"workspace_id": one, "id": key_id, "at": at} for (one, key_id), at in sorted(batch.items())]
                await KeysOfAllWorkspaces(connection).mark_used(uses)
        except BaseException:
            self.pending = batch | self.pending
            raise
