"""The sessions of one user, and the documents that are attached to sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from contracts.base import Page
from contracts.orchestrator import Session, SessionDocument, SessionState, SessionUpdate
from orchestrator.errors import SessionNotFound
from service_kit.pagination import decode_cursor, page
from service_kit.problems import PreconditionFailed
from service_kit.repository import CallerRepository, Repository
from service_kit.statements import Statements

SESSION_COLUMNS = ", ".join(Session.model_fields)


class SessionSql(Statements, file="sessions.sql", columns=SESSION_COLUMNS):
    create: str
    find: str
    active_run_ids: str
    artifact_index: str
    page: str
    change: str
    users: str


class SessionDocumentSql(Statements, file="documents.sql"):
    lock_session: str
    attach: str
    detach: str
    page: str
    delete: str
    attached: str


@dataclass(frozen=True)
class Attachment:
    """A document of a session; `is_new` if it was not attached before."""

    document_id: UUID
    attached_at: datetime
    is_new: bool


class CallerSessions(CallerRepository):
    """The caller's sessions; nobody else sees them."""

    async def create(self, title: str | None, key: str | None, *, temporary: bool = False) -> Session:
        """Creates a session, or returns the one that `key` created before."""
        created = await self.one(SessionSql.create, Session, id=uuid4(), title=title, temporary=temporary, key=key)
        assert created is not None
        return created

    async def find(self, session_id: UUID) -> Session:
        """Raises SessionNotFound."""
        session = await self.one(SessionSql.find, Session, id=session_id)
        if session is None:
            raise SessionNotFound
        return session

    async def page(self, limit: int, cursor: str | None, *, archived: bool, pinned: bool | None) -> Page[Session]:
        """Returns pinned sessions first, then the most recently used; `pinned` None means both."""
        was_pinned, at, before = decode_cursor(cursor, int, datetime, UUID)
        rows = await self.all(
            SessionSql.page,
            Session,
            archived=archived,
            pinned=pinned,
            before_pinned=bool(was_pinned),
            before_at=at,
            before_id=before,
            limit=limit + 1,
        )
        return page(rows, limit, lambda session: (int(session.pinned), session.updated_at, session.id))

    async def state(self, session_id: UUID) -> SessionState:
        """Raises SessionNotFound."""
        session = await self.find(session_id)
        active = await self.values(SessionSql.active_run_ids, session_id=session_id)
        artifact = await self.value(SessionSql.artifact_index, session_id=session_id)
        return SessionState(**dict(session), active_run_ids=active, artifact_index=artifact)

    async def change(self, session_id: UUID, change: SessionUpdate, version: int | None) -> Session:
        """Raises SessionNotFound, PreconditionFailed."""
        changed = await self.one(SessionSql.change, Session, id=session_id, version=version, **change.model_dump())
        if changed is None:
            raise await self.stale(session_id)
        return changed

    async def lock(self, session_id: UUID) -> int:
        """Locks the session's documents until the transaction ends; returns their number. Raises SessionNotFound."""
        count = await self.value(SessionDocumentSql.lock_session, id=session_id)
        if count is None:
            raise SessionNotFound
        return int(count)

    async def stale(self, session_id: UUID) -> PreconditionFailed:
        """Returns the problem for a change to an older version. Raises SessionNotFound."""
        session = await self.find(session_id)
        return PreconditionFailed(f"The session is now at version {session.version}")


@dataclass(frozen=True)
class SessionUser:
    """A session and its user."""

    id: UUID
    created_by: UUID


class WorkspaceSessions(Repository):
    """The sessions of a workspace, of all users."""

    async def users(self, session_ids: Sequence[UUID]) -> dict[UUID, UUID]:
        """Returns the users of the sessions that are neither deleted nor temporary."""
        found = await self.all(SessionSql.users, SessionUser, ids=session_ids)
        return {session.id: session.created_by for session in found}


class AttachedDocuments(Repository):
    """The documents of a workspace's sessions, of all users."""

    async def attach(self, session_id: UUID, document_id: UUID) -> Attachment:
        attached = await self.one(SessionDocumentSql.attach, Attachment, id=session_id, document_id=document_id)
        assert attached is not None
        return attached

    async def detach(self, session_id: UUID, document_id: UUID) -> None:
        await self.run(SessionDocumentSql.detach, id=session_id, document_id=document_id)

    async def page(self, session_id: UUID, limit: int, cursor: str | None) -> Page[SessionDocument]:
        """Returns the documents in the order in which they were attached."""
        at, after = decode_cursor(cursor)
        rows = await self.all(
            SessionDocumentSql.page, SessionDocument, id=session_id, after_at=at, after_id=after, limit=limit + 1
        )
        return page(rows, limit, lambda attached: (attached.attached_at, attached.document_id))

    async def delete(self, document_ids: Sequence[UUID]) -> Counter[UUID]:
        """Detaches the documents from every session; returns from how many, by document."""
        return Counter(await self.values(SessionDocumentSql.delete, document_ids=list(document_ids)))

    async def count(self, document_ids: Sequence[UUID]) -> Counter[UUID]:
        """Returns to how many sessions each document is attached."""
        return Counter(await self.values(SessionDocumentSql.attached, document_ids=list(document_ids)))
