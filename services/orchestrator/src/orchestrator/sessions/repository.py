"""The sessions of one user, and the documents that are attached to sessions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from contracts.base import Page
from contracts.orchestrator import Message, MessageCreate, Session, SessionDocument
from orchestrator.errors import SessionNotFound
from orchestrator.runs.repository import MESSAGE_COLUMNS
from service_kit.auth import Principal
from service_kit.idempotency import IdempotencyKeyReused
from service_kit.pagination import decode_cursor, page
from service_kit.postgres import Connection
from service_kit.problems import PreconditionFailed
from service_kit.repository import Repository
from service_kit.statements import Statements
from service_kit.tracing import outgoing_headers


class SessionSql(
    Statements, file="sessions.sql", columns=", ".join(Session.model_fields), message_columns=MESSAGE_COLUMNS
):
    create: str
    find: str
    page: str
    rename: str
    delete: str
    messages: str
    ask: str
    asked_before: str


class SessionDocumentSql(Statements, file="documents.sql"):
    lock_session: str
    attach: str
    detach: str
    page: str
    delete: str
    count: str


@dataclass(frozen=True)
class NewRun:
    """The run that a message queued; None if the Idempotency-Key was used before."""

    id: UUID | None
    created_at: datetime | None


@dataclass(frozen=True)
class StoredQuestion:
    """The run that an Idempotency-Key queued, and what it was asked."""

    id: UUID
    content: str
    document_ids: list[UUID] | None


@dataclass(frozen=True)
class Attachment:
    """A document of a session; `is_new` if it was not attached before."""

    document_id: UUID
    attached_at: datetime
    is_new: bool


class CallerSessions(Repository):
    """The caller's sessions; nobody else sees them."""

    def __init__(self, connection: Connection, caller: Principal) -> None:
        super().__init__(connection, caller.workspace_id)
        self.caller = caller
        self.bound = {**self.bound, "user_id": caller.user_id}

    async def create(self, title: str | None, key: str | None) -> Session:
        """Returns the session that `key` created before, if there is one."""
        created = await self.one(SessionSql.create, Session, id=uuid4(), title=title, key=key)
        assert created is not None
        return created

    async def find(self, session_id: UUID) -> Session:
        """Raises SessionNotFound."""
        session = await self.one(SessionSql.find, Session, id=session_id)
        if session is None:
            raise SessionNotFound
        return session

    async def page(self, limit: int, cursor: str | None) -> Page[Session]:
        """Returns the most recently used first."""
        at, after = decode_cursor(cursor)
        rows = await self.all(SessionSql.page, Session, before_at=at, before_id=after, limit=limit + 1)
        return page(rows, limit, lambda session: (session.updated_at, session.id))

    async def rename(self, session_id: UUID, title: str, version: int | None) -> Session:
        """Raises SessionNotFound, PreconditionFailed."""
        renamed = await self.one(SessionSql.rename, Session, id=session_id, title=title, version=version)
        if renamed is None:
            raise await self._stale(session_id)
        return renamed

    async def delete(self, session_id: UUID, version: int | None) -> list[UUID]:
        """Deletes its messages and runs, too; returns the runs' ids. Raises SessionNotFound, PreconditionFailed."""
        run_ids: list[UUID] | None = await self.value(SessionSql.delete, id=session_id, version=version)
        if run_ids is None:
            raise await self._stale(session_id)
        return run_ids

    async def messages(self, session_id: UUID, limit: int, cursor: str | None) -> Page[Message]:
        """Returns the oldest first. Raises SessionNotFound."""
        await self.find(session_id)
        at, after = decode_cursor(cursor)
        rows = await self.all(
            SessionSql.messages, Message, session_id=session_id, after_at=at, after_id=after, limit=limit + 1
        )
        return page(rows, limit, lambda message: (message.created_at, message.id))

    async def ask(
        self, session_id: UUID, message: MessageCreate, key: str | None, max_attempts: int
    ) -> tuple[UUID, datetime | None]:
        """Stores the message and queues its run; returns the run's id and time of creation.

        The id is that of the run that `key` queued before, if there is one; the time is None then.
        Raises SessionNotFound; IdempotencyKeyReused if the key belongs to another message.
        """
        new = await self.one(
            SessionSql.ask,
            NewRun,
            session_id=session_id,
            run_id=uuid4(),
            message_id=uuid4(),
            role=self.caller.role.value,
            delegation=self.caller.delegation,
            traceparent=outgoing_headers().get("traceparent"),
            key=key,
            document_ids=message.document_ids,
            max_attempts=max_attempts,
            content=message.content,
        )
        if new is None:
            raise SessionNotFound
        if new.id is not None:
            return new.id, new.created_at
        stored = await self.one(SessionSql.asked_before, StoredQuestion, session_id=session_id, key=key)
        if stored is None or (stored.content, stored.document_ids) != (message.content, message.document_ids):
            raise IdempotencyKeyReused
        return stored.id, None

    async def lock(self, session_id: UUID) -> int:
        """Locks the session's documents until the transaction ends; returns their number. Raises SessionNotFound."""
        count = await self.value(SessionDocumentSql.lock_session, id=session_id)
        if count is None:
            raise SessionNotFound
        return int(count)

    async def _stale(self, session_id: UUID) -> PreconditionFailed:
        """Raises SessionNotFound."""
        session = await self.find(session_id)
        return PreconditionFailed(f"The session is now at version {session.version}")


class AttachedDocuments(Repository):
    """The documents of a workspace's sessions, whoever they belong to."""

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

    async def delete(self, document_id: UUID) -> int:
        """Detaches the document from every session; returns from how many."""
        return await self.run(SessionDocumentSql.delete, document_id=document_id)

    async def count(self, document_id: UUID) -> int:
        """Returns to how many sessions the document is attached."""
        return int(await self.value(SessionDocumentSql.count, document_id=document_id))
