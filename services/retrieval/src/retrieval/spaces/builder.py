"""The background task that builds, completes and drops embedding spaces, for all workspaces in turn."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

import psycopg

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
from retrieval.spaces.leases import Claimed, Leases
from retrieval.spaces.rows import SpaceRows, SpaceSql, ensure_vector_index
from service_kit.notifications import Notifications
from service_kit.outbox import Outbox
from service_kit.postgres import Database
from service_kit.problems import WorkspaceGone

log = logging.getLogger(__name__)
CHANNEL = "retrieval_embedding_space"
LONGEST_WAIT_SECONDS = 5.0
SLICE_SECONDS = 10.0
DROPPED_AT_ONCE = 2_000
FINAL = (ProviderRejected, ContextTooLong, WrongEmbeddings, ModelFolderInvalid, ModelFileChanged)


class SpaceBuilder:
    """`open_embedders` gives the configured models, for work in the background; they are closed when it is done.

    `configured` are their spaces, the default's first. `batch` texts are embedded at a time.
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
        self.database, self.notifications, self.outbox = database, notifications, outbox
        self.open_embedders, self.default, self.batch = open_embedders, configured[0], batch
        self.leases = Leases(database, configured)
        self._may_have_unused_indexes = True

    async def run(self) -> None:
        """Runs until cancelled; begins at once when a space is asked for or a document lacks vectors."""
        async with self.notifications.subscribe(CHANNEL) as changed:
            while True:
                await self.leases.adopt_default(self.default)
                await self.work_off()
                if self._may_have_unused_indexes:
                    await self._drop_unused_indexes()
                await changed.wait(LONGEST_WAIT_SECONDS)

    async def work_off(self) -> None:
        """Works on whatever is due, a while on each, until nothing is."""
        space = await self.leases.claim()
        if space is None:
            return
        embedders = await asyncio.to_thread(self.open_embedders)
        try:
            while space is not None:
                async with self.leases.held(space):
                    await self._work(space, embedders)
                space = await self.leases.claim()
        finally:
            await embedders.aclose()

    async def _work(self, space: Claimed, embedders: Embedders) -> None:
        about = {"workspace_id": str(space.workspace_id), "model": space.model, "dims": space.dims}
        try:
            if space.status == "dropping":
                await self._drop(space)
            elif embedder := embedders.find(*space.key):
                async with self.database.system() as connection:
                    await ensure_vector_index(connection, *space.key)
                await Filling(self.database, self.leases, self.outbox, space).run(embedder, self.batch, SLICE_SECONDS)
        except WorkspaceGone:
            log.info("the workspace of an embedding space is deleted", extra=about)
        except (EmbeddingError, psycopg.Error) as error:
            log.warning("embedding space not complete yet", extra=about, exc_info=error)
            await self.leases.record(space, error, final=isinstance(error, FINAL))

    async def _drop(self, space: Claimed) -> None:
        removed = DROPPED_AT_ONCE
        while removed == DROPPED_AT_ONCE:
            async with self.database.workspace(space.workspace_id) as connection:
                if not await self.leases.hold(connection, space):
                    return
                removed = await SpaceRows(connection, space.workspace_id).drop_vectors(space.key, DROPPED_AT_ONCE)
        async with self.database.workspace(space.workspace_id) as connection:
            of = {"workspace_id": space.workspace_id, "id": space.id, "owner": self.leases.owner}
            await connection.execute(SpaceSql.remove, of)
        self._may_have_unused_indexes = True

    async def _drop_unused_indexes(self) -> None:
        """A search that has the table holds this up, and must not hold up those behind it: at the next look, then."""
        try:
            async with self.database.system() as connection:
                await connection.execute("SET LOCAL lock_timeout = '2s'")
                statement = "SELECT drop_unused_vector_indexes(%s, %s)"
                await connection.execute(statement, (self.default.model, self.default.dims))
        except psycopg.errors.LockNotAvailable:
            log.info("an unused vector index is dropped at the next look")
        else:
            self._may_have_unused_indexes = False
