"""The operations of users on embedding spaces; the builder does the work."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

import psycopg

from contracts.embedding_spaces import EmbeddingSpaceCreate, EmbeddingSpaceState, SpaceStatus
from inference.embedders import Embedders, SpaceKey
from retrieval.errors import (
    EmbeddingModelNotConfigured,
    EmbeddingSpaceDropping,
    EmbeddingSpaceInUse,
    UnknownEmbeddingModel,
    WorkspaceBusy,
)
from retrieval.spaces.rows import IDLE, SpaceRow, SpaceRows, SpaceSql, space_id
from retrieval.spaces.switch import ensure_active, switch
from service_kit.outbox import Outbox
from service_kit.postgres import Database
from service_kit.problems import NotFound


@dataclass(frozen=True)
class SpaceLifecycle:
    """The embedding spaces of workspaces. `embedders` are the configured models."""

    database: Database
    embedders: Embedders
    outbox: Outbox

    async def all(self, workspace_id: UUID) -> list[EmbeddingSpaceState]:
        """Returns the existing spaces, oldest first, then those that could be built."""
        async with self.database.workspace(workspace_id) as connection:
            rows = SpaceRows(connection, workspace_id)
            known = await rows.spaces()
            chunks, vectors = await rows.counts()
        return [self._state(row, chunks, vectors.get(row.key, 0)) for row in known + self._unbuilt(known)]

    async def get(self, workspace_id: UUID, wanted: str) -> EmbeddingSpaceState:
        """Returns one space. Raises NotFound."""
        for state in await self.all(workspace_id):
            if state.id == wanted:
                return state
        raise NotFound

    async def create(self, workspace_id: UUID, body: EmbeddingSpaceCreate) -> EmbeddingSpaceState:
        """Builds the space of a configured model, or completes an existing one. Raises UnknownEmbeddingModel."""
        embedder = self.embedders.named(body.model, body.dims)
        if embedder is None:
            configured = [{"model": one.model, "dims": one.dims} for one in self.embedders.spaces]
            raise UnknownEmbeddingModel(configured=configured)
        space = (embedder.space.model, embedder.space.dims)
        async with self._changing(workspace_id) as rows:
            await ensure_active(rows, self._default, self.outbox)
            await rows.add(space, SpaceStatus.building, activate=body.activate)
            row = await rows.find(space_id(*space))
            assert row is not None
            if body.activate:
                await self._activate(rows, row)
            elif row.status in {SpaceStatus.ready, SpaceStatus.failed}:
                await rows.change(row, SpaceStatus.building)
            elif row.status is SpaceStatus.dropping:
                raise EmbeddingSpaceDropping
        return await self.get(workspace_id, row.id)

    async def activate(self, workspace_id: UUID, wanted: str) -> EmbeddingSpaceState:
        """Switches to a space: at once if it is complete, otherwise as soon as it is.

        Raises NotFound, EmbeddingModelNotConfigured, EmbeddingSpaceDropping.
        """
        async with self._changing(workspace_id) as rows:
            row = await rows.find(wanted)
            if row is not None:
                await self._activate(rows, row)
        state = await self.get(workspace_id, wanted)
        if state.status is SpaceStatus.available:
            return await self.create(workspace_id, EmbeddingSpaceCreate(model=state.model, dims=state.dims))
        return state

    async def drop(self, workspace_id: UUID, wanted: str) -> EmbeddingSpaceState:
        """Queues the vectors for deletion. Raises NotFound, EmbeddingSpaceInUse."""
        async with self._changing(workspace_id) as rows:
            row = await rows.find(wanted)
            if row is not None and row.status is not SpaceStatus.active:
                await rows.change(row, SpaceStatus.dropping)
        state = await self.get(workspace_id, wanted)
        if state.status is SpaceStatus.active:
            raise EmbeddingSpaceInUse
        return state

    @property
    def _default(self) -> SpaceKey:
        return self.embedders.default.space.model, self.embedders.default.space.dims

    @asynccontextmanager
    async def _changing(self, workspace_id: UUID) -> AsyncIterator[SpaceRows]:
        """Yields the spaces, with exclusive access to the workspace. Raises WorkspaceBusy."""
        try:
            async with self.database.workspace(workspace_id) as connection:
                rows = SpaceRows(connection, workspace_id)
                await rows.lock_workspace()
                yield rows
        except psycopg.errors.LockNotAvailable as error:
            raise WorkspaceBusy from error

    async def _activate(self, rows: SpaceRows, row: SpaceRow) -> None:
        if self.embedders.find(*row.key) is None:
            raise EmbeddingModelNotConfigured(f"{row.model} with {row.dims} dimensions")
        if row.status is SpaceStatus.dropping:
            raise EmbeddingSpaceDropping
        await rows.run(SpaceSql.activate_no_other, id=row.id)  # the latest request wins
        if row.status is not SpaceStatus.active and not await switch(rows, row, self.outbox):
            await rows.change(row, SpaceStatus.building, activate=True)

    def _state(self, row: SpaceRow, chunks: int, vectors: int) -> EmbeddingSpaceState:
        configured = self.embedders.find(*row.key) is not None
        working = row.status is SpaceStatus.building or (row.status is SpaceStatus.active and row.state != IDLE)
        error = (row.error_class, row.error_message)
        if working and not configured:
            error = (EmbeddingModelNotConfigured.__name__, EmbeddingModelNotConfigured.title)
        return EmbeddingSpaceState(
            id=row.id,
            model=row.model,
            dims=row.dims,
            status=row.status,
            configured=configured,
            activate=row.activate,
            vectors=vectors,
            chunks=chunks,
            seconds_left=round((chunks - vectors) / row.rate, 1) if working and configured and row.rate else None,
            created_at=row.created_at,
            activated_at=row.activated_at,
            error_class=error[0],
            error_message=error[1],
        )

    def _unbuilt(self, known: Sequence[SpaceRow]) -> list[SpaceRow]:
        """Returns configured models without a row; a workspace without any row will be searched in the default."""
        ids = {row.id for row in known}
        rows = []
        for space in self.embedders.spaces:
            key = (space.model, space.dims)
            is_active = not known and key == self._default
            if (id_ := space_id(*key)) not in ids:
                rows.append(SpaceRow(id_, *key, SpaceStatus.active if is_active else SpaceStatus.available))
        return rows
