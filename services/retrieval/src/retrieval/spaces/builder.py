"""The background task that builds, completes and drops embedding spaces, for all workspaces in turn."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import psycopg

from contracts.backoff import backoff
from contracts.embedding_spaces import SpaceStatus
from inference.embedders import Embedders
from inference.embeddings import EmbeddingSpace
from inference.errors import (
    ContextTooLong,
    EmbeddingError,
    ModelFileChanged,
    ModelFolderInvalid,
    ProviderRejected,
    WrongEmbeddings,
)
from retrieval.spaces.filling import Filling
from retrieval.spaces.rows import TABLE, LeasedSpace, SpaceRows, SpaceSql, ensure_vector_index
from service_kit.notifications import Notifications
from service_kit.outbox import Outbox
from service_kit.postgres import Database
from service_kit.repository import SystemRepository
from service_kit.work import WorkQueue
from service_kit.worker import Worker, uninterrupted, while_held

log = logging.getLogger(__name__)
LEASE_SECONDS = 15.0
SLICE_SECONDS = 60.0
HOUSEKEEPING_SECONDS = 30.0
RETRY_SECONDS, LONGEST_RETRY_SECONDS, FINAL_RETRY_SECONDS = 5.0, 300.0, 900.0
DROPPED_AT_ONCE = 2_000
FINAL = (ProviderRejected, ContextTooLong, WrongEmbeddings, ModelFolderInvalid, ModelFileChanged)


class SpaceBuilder:
    """Builds spaces in its `worker`, with `keep_house` for the housekeeping; run both concurrently.

    `open_embedders` opens the configured models for background work; they are closed after each slice. `configured` are
    their spaces, the default's first. `batch` texts are embedded at a time.
    """

    def __init__(
        self,
        database: Database,
        notifications: Notifications,
        outbox: Outbox,
        open_embedders: Callable[[], Embedders],
        configured: list[EmbeddingSpace],
        batch: int,
    ) -> None:
        self.database, self.outbox, self.open_embedders, self.batch = database, outbox, open_embedders, batch
        self.default = configured[0]
        self.configured: dict[str, Any] = {
            "models": [one.model for one in configured],
            "dims": [one.dims for one in configured],
        }
        self.queue = WorkQueue(database, TABLE, LEASE_SECONDS)
        self.worker = Worker(self.queue, self.execute, notifications, 1, **self.configured)
        self._dropped = asyncio.Event()
        self._dropped.set()  # an index may be left from an earlier run

    async def keep_house(self) -> None:
        """Adopts the default space and drops unused indexes, until cancelled."""
        while True:
            await self.adopt_default()
            if self._dropped.is_set():
                await self._drop_unused_indexes()
            try:
                async with asyncio.timeout(HOUSEKEEPING_SECONDS):
                    await self._dropped.wait()
            except TimeoutError:
                continue

    async def execute(self, space: LeasedSpace) -> None:
        """Works on the space for one slice of time. Raises LeaseLost, WorkspaceGone."""
        about = {"workspace_id": str(space.workspace_id), "model": space.model, "dims": space.dims}
        try:
            dropping = space.status == SpaceStatus.dropping
            done = await while_held(self.queue, space, self._drop(space) if dropping else self._fill(space))
        except (EmbeddingError, psycopg.Error) as error:
            log.warning("embedding space is not complete yet", extra=about, exc_info=error)
            await self._record(space, error)
        except asyncio.CancelledError:
            await uninterrupted(self._give_back(space))
            raise
        else:
            if not done:
                await self._give_back(space)

    async def adopt_default(self) -> None:
        """Queues the default space, and a switch to it, wherever the active space's model is no longer configured."""
        async with self.database.system() as connection:
            values = {"model": self.default.model, "default_dims": self.default.dims, **self.configured}
            await SystemRepository(connection).run(SpaceSql.adopt_default, **values)

    async def _fill(self, space: LeasedSpace) -> bool:
        """Makes vectors for one slice of time; returns whether the space is complete."""
        async with self.database.system() as connection:
            await ensure_vector_index(connection, *space.key)
        embedders = await asyncio.to_thread(self.open_embedders)
        try:
            embedder = embedders.find(*space.key)
            assert embedder is not None, "claims name the configured models"
            filling = Filling(self.database, self.queue, self.outbox, space)
            return await filling.run(embedder, self.batch, SLICE_SECONDS)
        finally:
            await embedders.aclose()

    async def _drop(self, space: LeasedSpace) -> bool:
        """Deletes the vectors, then the space."""
        removed = DROPPED_AT_ONCE
        while removed == DROPPED_AT_ONCE:
            async with self.database.workspace(space.workspace_id) as connection:
                await self.queue.extend(connection, space)
                values = {"model": space.model, "dims": space.dims, "limit": DROPPED_AT_ONCE}
                removed = await SpaceRows(connection, space.workspace_id).run(SpaceSql.drop_vectors, **values)
        async with self.database.workspace(space.workspace_id) as connection:
            await SpaceRows(connection, space.workspace_id).run(SpaceSql.remove, lease_token=space.lease_token)
        self._dropped.set()
        return True

    async def _give_back(self, space: LeasedSpace) -> None:
        async with self.database.workspace(space.workspace_id) as connection:
            await self.queue.release(connection, space, refund=True)

    async def _record(self, space: LeasedSpace, error: Exception) -> None:
        """Records the error and schedules the next attempt with backoff, or much later if the error will recur."""
        final = isinstance(error, FINAL)
        async with self.database.workspace(space.workspace_id) as connection:
            row = await SpaceRows(connection, space.workspace_id).find(space.id)
            delay = backoff(row.attempts if row else space.attempts, RETRY_SECONDS, LONGEST_RETRY_SECONDS)
            shown: dict[str, Any] = {
                "error_class": type(error).__name__,
                "error_message": " ".join(str(error).split())[:500],
            }
            if final and space.status != SpaceStatus.active:
                shown["status"] = "failed"
            await self.queue.release(connection, space, delay_seconds=FINAL_RETRY_SECONDS if final else delay, **shown)

    async def _drop_unused_indexes(self) -> None:
        """Drops unused indexes. Waits only briefly for the table's lock, because searches would queue behind it."""
        self._dropped.clear()
        try:
            async with self.database.system() as connection:
                await connection.execute("SET LOCAL lock_timeout = '2s'")
                statement = "SELECT drop_unused_vector_indexes(%s, %s)"
                await connection.execute(statement, (self.default.model, self.default.dims))
        except psycopg.errors.LockNotAvailable:
            log.info("could not drop an unused vector index yet")
            asyncio.get_running_loop().call_later(HOUSEKEEPING_SECONDS, self._dropped.set)
