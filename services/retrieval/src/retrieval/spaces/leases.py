"""Which space a builder works on: claimed for a while, renewed as the work goes on, free when a process dies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID, uuid4

from psycopg.rows import class_row

from inference.embedders import SpaceKey
from inference.embeddings import EmbeddingSpace
from retrieval.spaces.rows import SpaceSql
from service_kit.postgres import Connection, Database

LEASE_SECONDS = 15.0
RETRY_SECONDS, LONGEST_RETRY_SECONDS, FINAL_RETRY_SECONDS = 5.0, 300.0, 900.0


@dataclass(frozen=True)
class Claimed:
    """A space as it was when it was claimed."""

    workspace_id: UUID
    id: str
    model: str
    dims: int
    status: str
    activate: bool
    attempts: int
    rate: float | None

    @property
    def key(self) -> SpaceKey:
        return self.model, self.dims


class Leases:
    """Of one process, for the models that it can embed with."""

    def __init__(self, database: Database, spaces: Sequence[EmbeddingSpace]) -> None:
        self.database, self.owner = database, uuid4()
        self.configured = {"models": [one.model for one in spaces], "dims": [one.dims for one in spaces]}

    async def claim(self) -> Claimed | None:
        """The space that has waited longest for work, or None when nothing is due."""
        values = {"owner": self.owner, "lease_seconds": LEASE_SECONDS, **self.configured}
        async with (
            self.database.system() as connection,
            connection.cursor(row_factory=class_row(Claimed)) as cursor,
        ):
            await cursor.execute(SpaceSql.claim, values)
            return await cursor.fetchone()

    @asynccontextmanager
    async def held(self, space: Claimed) -> AsyncIterator[None]:
        """Keeps the space for the block and gives it back after it."""
        keeping = asyncio.create_task(self._keep(space))
        try:
            yield
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)
            async with self.database.system() as connection:
                await connection.execute(SpaceSql.release, self._of(space))

    async def hold(
        self, connection: Connection, space: Claimed, *, worked: bool = False, rate: float | None = None
    ) -> bool:
        """In the caller's transaction: whether the space is still ours to work on; nobody changes it meanwhile.

        `worked` clears what went wrong before.
        """
        values = self._of(space) | {"status": space.status, "worked": worked, "rate": rate}
        return (await connection.execute(SpaceSql.hold, values)).rowcount == 1

    async def record(self, space: Claimed, error: Exception, *, final: bool) -> None:
        """Shows the error, and when the next try is due: later each time, much later after a final one."""
        delay = min(RETRY_SECONDS * 2.0 ** min(space.attempts, 20), LONGEST_RETRY_SECONDS)
        values = {
            "error_class": type(error).__name__,
            "error_message": " ".join(str(error).split())[:500],
            "delay_seconds": FINAL_RETRY_SECONDS if final else delay,
            "final": final,
        }
        async with self.database.system() as connection:
            await connection.execute(SpaceSql.record_error, self._of(space) | values)

    async def adopt_default(self, default: EmbeddingSpace) -> None:
        """Has the default's space built and switched to, wherever the active space's model is configured no more."""
        values = {"model": default.model, "default_dims": default.dims, **self.configured}
        async with self.database.system() as connection:
            await connection.execute(SpaceSql.adopt_default, values)

    async def _keep(self, space: Claimed) -> None:
        while True:
            await asyncio.sleep(LEASE_SECONDS / 3)
            async with self.database.system() as connection:
                await self.hold(connection, space)

    def _of(self, space: Claimed) -> dict[str, object]:
        return {
            "workspace_id": space.workspace_id,
            "id": space.id,
            "owner": self.owner,
            "lease_seconds": LEASE_SECONDS,
        }
