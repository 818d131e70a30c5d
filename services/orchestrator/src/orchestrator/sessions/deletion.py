"""Deletes a session with everything that belongs to it, and produces the receipt."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from redis.exceptions import RedisError

from contracts.events import SessionDeleted
from contracts.gateway import Role
from contracts.orchestrator import SessionReceipt
from orchestrator.artifacts.indexing import ArtifactIndexing
from orchestrator.errors import SessionNotFound
from orchestrator.images.keeping import ImageKeeping
from orchestrator.images.repository import WorkspaceImages
from orchestrator.runs.ended import EndedRuns
from orchestrator.sessions.repository import CallerSessions
from service_kit.auth import Principal
from service_kit.outbox import Outbox
from service_kit.postgres import Database
from service_kit.problems import WorkspaceGone
from service_kit.repository import CallerRepository, Repository, SystemRepository
from service_kit.statements import Statements
from service_kit.workspace_purge import Erased

log = logging.getLogger(__name__)
UNUSED_HOURS = 24
UNUSED_AT_ONCE = 500


class SessionDeletionSql(Statements, file="deletion.sql"):
    end_runs: str
    lock: str
    run_ids: str
    count: str
    delete: str
    deleted: str
    unused: str


@dataclass(frozen=True)
class SessionParts:
    """The number of rows of a session, by kind."""

    messages: int
    runs: int
    events: int
    artifact_versions: int


@dataclass(frozen=True)
class ErasedSession:
    """The rows that a session had, and those that remain."""

    deleted_at: datetime
    run_ids: list[UUID]
    before: SessionParts
    after: SessionParts
    image_ids: list[UUID]


@dataclass(frozen=True)
class UnusedSession:
    """A temporary session that nobody has used for a day."""

    workspace_id: UUID
    session_id: UUID
    created_by: UUID

    @property
    def owner(self) -> Principal:
        return Principal(self.created_by, self.workspace_id, Role.viewer)


class SessionRows(CallerRepository):
    """The rows of one user's sessions that are being deleted."""

    async def end_runs(self, session_id: UUID, version: int | None) -> bool:
        """Ends the session's runs; returns False if the user has no such session, or it has another version."""
        return await self.value(SessionDeletionSql.end_runs, id=session_id, version=version) is not None

    async def delete(self, session_id: UUID) -> ErasedSession:
        """Raises SessionNotFound."""
        if await self.value(SessionDeletionSql.lock, id=session_id) is None:
            raise SessionNotFound
        run_ids = await self.values(SessionDeletionSql.run_ids, id=session_id)
        before = await self._count(session_id, run_ids)
        image_ids = await WorkspaceImages(self.connection, self.workspace_id).of_session(session_id)
        deleted_at = await self.value(SessionDeletionSql.delete, id=session_id)
        return ErasedSession(deleted_at, run_ids, before, await self._count(session_id, run_ids), image_ids)

    async def _count(self, session_id: UUID, run_ids: Sequence[UUID]) -> SessionParts:
        parts = await self.one(SessionDeletionSql.count, SessionParts, id=session_id, run_ids=run_ids)
        assert parts is not None
        return parts


class DeletedSessionIds(Repository):
    """The deleted sessions of a workspace, kept as long as the workspace exists."""

    async def among(self, session_ids: Sequence[UUID]) -> list[UUID]:
        return await self.values(SessionDeletionSql.deleted, ids=session_ids)


class SessionEraser:
    """Deletes sessions: ends their runs, deletes their rows, and then what the runs stored elsewhere."""

    def __init__(
        self, database: Database, outbox: Outbox, ended: EndedRuns, indexing: ArtifactIndexing, images: ImageKeeping
    ) -> None:
        self.database, self.outbox, self.ended, self.indexing = database, outbox, ended, indexing
        self.images = images

    async def erase(self, caller: Principal, session_id: UUID, version: int | None) -> SessionReceipt:
        """Writes `session.deleted` in the transaction of the deletion. Raises SessionNotFound, PreconditionFailed, and
        ServiceSilent if its artifact's document cannot be deleted.
        """
        async with self.database.workspace(caller.workspace_id) as connection:
            if not await SessionRows(connection, caller).end_runs(session_id, version):
                raise await CallerSessions(connection, caller).stale(session_id)
        await self.indexing.forget(caller.workspace_id, session_id)
        async with self.database.workspace(caller.workspace_id) as connection:
            rows = await SessionRows(connection, caller).delete(session_id)
            event = SessionDeleted(session_id=session_id)
            await self.outbox.write(connection, caller.workspace_id, event, str(session_id))
        checkpoints, streams = await self.ended.erase_checkpoints(rows.run_ids), await self._streams(rows.run_ids)
        images = await self.images.erase(caller.workspace_id, rows.image_ids)
        return SessionReceipt(
            session_id=session_id,
            deleted_at=rows.deleted_at,
            removed={**asdict(rows.before), **checkpoints.removed, **streams.removed, **images.removed},
            remaining={**asdict(rows.after), **checkpoints.remaining, **streams.remaining, **images.remaining},
        )

    async def erase_unused(self) -> None:
        """Erases temporary sessions that nobody has used for a day; failures are retried the next time."""
        async with self.database.system() as connection:
            unused = await SystemRepository(connection).all(
                SessionDeletionSql.unused, UnusedSession, hours=UNUSED_HOURS, limit=UNUSED_AT_ONCE
            )
        for session in unused:
            try:
                await self.erase(session.owner, session.session_id, None)
            except (SessionNotFound, WorkspaceGone):
                continue  # another process was faster
            except Exception:  # the boundary of one session: it must not hold up the others
                log.exception("temporary session not erased yet", extra={"session_id": str(session.session_id)})

    async def _streams(self, run_ids: Sequence[UUID]) -> Erased:
        """Deletes the streams. Without Redis all count as left: they expire by themselves."""
        try:
            return await self.ended.erase_streams(run_ids)
        except RedisError as error:
            log.warning("run streams not deleted", exc_info=error, extra={"runs": len(run_ids)})
            return Erased({"streams": 0}, {"streams": len(run_ids)})
