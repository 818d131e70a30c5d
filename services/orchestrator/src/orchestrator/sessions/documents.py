"""The documents that are attached to sessions."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from psycopg.rows import class_row

from contracts.base import Page
from contracts.events import DocumentDeleted, DocumentPurged, Event
from contracts.orchestrator import SessionDocument
from contracts.registry import ORCHESTRATOR
from orchestrator.errors import SessionNotFound, TooManySessionDocuments
from service_kit import queries
from service_kit.auth import Principal
from service_kit.outbox import Outbox, first_time
from service_kit.pagination import decode_cursor, page
from service_kit.postgres import Connection, Database
from service_kit.streams import Handler

MOST_DOCUMENTS = 1_000  # of a session: a search in it asks for all of them at once


class SessionDocuments:
    """Of the sessions of one user, as of all else of them. A deleted document is attached to none."""

    def __init__(self, database: Database, outbox: Outbox) -> None:
        self.database, self.outbox, self.sql = database, outbox, queries.load("orchestrator.sessions")

    @property
    def handlers(self) -> Mapping[str, Handler]:
        return {DocumentDeleted.event_type: self.forget}

    async def attach(self, caller: Principal, session_id: UUID, document_id: UUID) -> SessionDocument:
        """Once, however often it is asked for. Raises SessionNotFound, TooManySessionDocuments."""
        values = {**_of(caller, session_id), "document_id": document_id}
        async with self.database.workspace(caller.workspace_id) as connection:
            count = await self._lock(connection, caller, session_id)
            row = await (await connection.execute(self.sql["attach_document"], values)).fetchone()
            assert row is not None
            if row[2] and count >= MOST_DOCUMENTS:
                raise TooManySessionDocuments(f"a session has at most {MOST_DOCUMENTS} documents")
        return SessionDocument(document_id=row[0], attached_at=row[1])

    async def detach(self, caller: Principal, session_id: UUID, document_id: UUID) -> None:
        """One that is not attached is no error. Raises SessionNotFound."""
        async with self.database.workspace(caller.workspace_id) as connection:
            await self._lock(connection, caller, session_id)
            values = {**_of(caller, session_id), "document_id": document_id}
            await connection.execute(self.sql["detach_document"], values)

    async def page(self, caller: Principal, session_id: UUID, limit: int, cursor: str | None) -> Page[SessionDocument]:
        """In the order in which they were attached. Raises SessionNotFound."""
        after_at, after_id = decode_cursor(cursor)
        values = {**_of(caller, session_id), "after_at": after_at, "after_id": after_id, "limit": limit + 1}
        async with self.database.workspace(caller.workspace_id) as connection:
            if await (await connection.execute(self.sql["get_session"], values)).fetchone() is None:
                raise SessionNotFound
            rows = connection.cursor(row_factory=class_row(SessionDocument))
            await rows.execute(self.sql["list_session_documents"], values)
            found = await rows.fetchall()
        return page(found, limit, lambda one: (one.attached_at, one.document_id))

    async def forget(self, event: Event) -> None:
        """Detaches a deleted document from every session, and confirms it by `document.purged`."""
        document_id = DocumentDeleted.model_validate(event.data).document_id
        values = {"workspace_id": event.workspace_id, "document_id": document_id}
        async with self.database.workspace(event.workspace_id) as connection:
            if not await first_time(connection, event):
                return
            detached = (await connection.execute(self.sql["forget_document"], values)).rowcount
            cursor = await connection.execute(self.sql["count_attachments"], values)
            purged = DocumentPurged(
                document_id=document_id,
                service=ORCHESTRATOR,
                removed={"session_documents": detached},
                remaining={"session_documents": (await cursor.fetchone() or (0,))[0]},
            )
            await self.outbox.write(connection, event.workspace_id, purged, str(document_id))

    async def _lock(self, connection: Connection, caller: Principal, session_id: UUID) -> int:
        """Nobody else changes the session until the transaction ends; how many documents it has."""
        row = await (await connection.execute(self.sql["lock_session"], _of(caller, session_id))).fetchone()
        if row is None:
            raise SessionNotFound
        return int(row[0])


def _of(caller: Principal, session_id: UUID) -> dict[str, object]:
    return {"workspace_id": caller.workspace_id, "user_id": caller.user_id, "id": session_id}
