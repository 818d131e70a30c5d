"""Every query over sessions and their messages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from psycopg.rows import class_row

from contracts.base import Page
from contracts.orchestrator import Message, MessageCreate, Run, RunStatus, Session
from orchestrator.errors import IdempotencyKeyReused, SessionNotFound
from service_kit import queries
from service_kit.auth import Principal
from service_kit.pagination import decode_cursor, page
from service_kit.postgres import Connection, Database
from service_kit.problems import PreconditionFailed
from service_kit.tracing import outgoing_headers


@dataclass(frozen=True)
class EarlierRun:
    """The run that an Idempotency-Key made before, and what it was asked."""

    id: UUID
    content: str
    document_ids: list[UUID] | None


@dataclass(frozen=True)
class NewRun:
    """`run_id` and `created_at` are None where the Idempotency-Key was used before."""

    session_id: UUID
    run_id: UUID | None
    created_at: datetime | None
    told: int


@dataclass(frozen=True)
class _Deleted:
    run_ids: list[UUID]


class SessionStore:
    """Sessions belong to a workspace and to the user who made them; nobody else sees them."""

    def __init__(self, database: Database, max_attempts: int) -> None:
        self.database, self.max_attempts = database, max_attempts
        self.sql = queries.load("orchestrator.sessions")

    async def create(self, caller: Principal, title: str | None, key: str | None) -> Session:
        """The session that `key` made before, where there is one."""
        values = {**_owner(caller), "id": uuid4(), "title": title, "key": key}
        async with self.database.workspace(caller.workspace_id) as connection:
            cursor = connection.cursor(row_factory=class_row(Session))
            await cursor.execute(self.sql["create_session"], values)
            created = await cursor.fetchone()
        assert created is not None
        return created

    async def get(self, caller: Principal, session_id: UUID) -> Session:
        """Raises SessionNotFound."""
        async with self.database.workspace(caller.workspace_id) as connection:
            return await self._get(connection, caller, session_id)

    async def page(self, caller: Principal, limit: int, cursor: str | None) -> Page[Session]:
        """Most recently used first."""
        before_at, before_id = decode_cursor(cursor)
        values = {**_owner(caller), "before_at": before_at, "before_id": before_id, "limit": limit + 1}
        async with self.database.workspace(caller.workspace_id) as connection:
            rows = connection.cursor(row_factory=class_row(Session))
            await rows.execute(self.sql["list_sessions"], values)
            found = await rows.fetchall()
        return page(found, limit, lambda one: (one.updated_at, one.id))

    async def rename(self, caller: Principal, session_id: UUID, title: str, version: int | None) -> Session:
        """Raises SessionNotFound, PreconditionFailed."""
        values = {**_owner(caller), "id": session_id, "title": title, "version": version}
        async with self.database.workspace(caller.workspace_id) as connection:
            cursor = connection.cursor(row_factory=class_row(Session))
            await cursor.execute(self.sql["rename_session"], values)
            renamed = await cursor.fetchone()
            if renamed is None:
                await self._refuse(connection, caller, session_id)
        assert renamed is not None
        return renamed

    async def delete(self, caller: Principal, session_id: UUID, version: int | None) -> list[UUID]:
        """Messages and runs go with it; returns the ids of the runs. Raises SessionNotFound, PreconditionFailed."""
        values = {**_owner(caller), "id": session_id, "version": version}
        async with self.database.workspace(caller.workspace_id) as connection:
            cursor = connection.cursor(row_factory=class_row(_Deleted))
            await cursor.execute(self.sql["delete_session"], values)
            deleted = await cursor.fetchone()
            if deleted is None:
                await self._refuse(connection, caller, session_id)
            assert deleted is not None
            for run_id in deleted.run_ids:
                await connection.execute("SELECT pg_notify('orchestrator_run_cancelled', %s)", (str(run_id),))
        return deleted.run_ids

    async def messages(self, caller: Principal, session_id: UUID, limit: int, cursor: str | None) -> Page[Message]:
        """Oldest first. Raises SessionNotFound."""
        after_at, after_id = decode_cursor(cursor)
        values = {
            "workspace_id": caller.workspace_id,
            "session_id": session_id,
            "after_at": after_at,
            "after_id": after_id,
            "limit": limit + 1,
        }
        async with self.database.workspace(caller.workspace_id) as connection:
            await self._get(connection, caller, session_id)
            rows = connection.cursor(row_factory=class_row(Message))
            await rows.execute(self.sql["list_messages"], values)
            found = await rows.fetchall()
        return page(found, limit, lambda one: (one.created_at, one.id))

    async def ask(
        self, caller: Principal, session_id: UUID, message: MessageCreate, key: str | None
    ) -> tuple[UUID, Run | None]:
        """Stores the message and queues its run in one transaction; returns the run's id, and the run where it is new.

        With a `key` that was used before, the id is that of the run which it made then.
        Raises SessionNotFound; IdempotencyKeyReused where the key belongs to another message.
        """
        values = {
            **_owner(caller),
            "session_id": session_id,
            "run_id": uuid4(),
            "message_id": uuid4(),
            "role": caller.role.value,
            "traceparent": outgoing_headers().get("traceparent"),
            "key": key,
            "document_ids": message.document_ids,
            "max_attempts": self.max_attempts,
            "content": message.content,
        }
        async with self.database.workspace(caller.workspace_id) as connection:
            cursor = connection.cursor(row_factory=class_row(NewRun))
            await cursor.execute(self.sql["create_run"], values)
            new = await cursor.fetchone()
            if new is None:
                raise SessionNotFound
            if new.run_id is None or new.created_at is None:
                return await self._earlier(connection, caller, session_id, message, key), None
        return new.run_id, _queued(new.run_id, session_id, new.created_at)

    async def _earlier(
        self, connection: Connection, caller: Principal, session_id: UUID, message: MessageCreate, key: str | None
    ) -> UUID:
        cursor = connection.cursor(row_factory=class_row(EarlierRun))
        values = {"workspace_id": caller.workspace_id, "session_id": session_id, "key": key}
        await cursor.execute(self.sql["earlier_run"], values)
        earlier = await cursor.fetchone()
        assert earlier is not None
        if (earlier.content, earlier.document_ids) != (message.content, message.document_ids):
            raise IdempotencyKeyReused
        return earlier.id

    async def _get(self, connection: Connection, caller: Principal, session_id: UUID) -> Session:
        cursor = connection.cursor(row_factory=class_row(Session))
        await cursor.execute(self.sql["get_session"], {**_owner(caller), "id": session_id})
        session = await cursor.fetchone()
        if session is None:
            raise SessionNotFound
        return session

    async def _refuse(self, connection: Connection, caller: Principal, session_id: UUID) -> None:
        """Nothing was changed: because the session is not there, or because it has another version by now."""
        session = await self._get(connection, caller, session_id)
        raise PreconditionFailed(f"the session has version {session.version} by now")


def _owner(caller: Principal) -> dict[str, UUID]:
    return {"workspace_id": caller.workspace_id, "user_id": caller.user_id}


def _queued(run_id: UUID, session_id: UUID, created_at: datetime) -> Run:
    return Run(
        id=run_id,
        session_id=session_id,
        status=RunStatus.queued,
        mode=None,
        attempts=0,
        node_trace=[],
        issues=[],
        error_type=None,
        error_message=None,
        created_at=created_at,
        started_at=None,
        finished_at=None,
    )
