"""Sessions and their messages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from uuid import UUID

from attractor_client.http.pages import every
from attractor_client.http.transport import Transport, path
from attractor_client.resources.runs import RunEvent, Runs
from contracts.base import Page
from contracts.orchestrator import (
    Message,
    MessageCreate,
    Run,
    Session,
    SessionCreate,
    SessionDocument,
    SessionUpdate,
)

SESSIONS = "/v1/sessions"


class Sessions:
    """`client.sessions`: the sessions of the key's user."""

    def __init__(self, transport: Transport, runs: Runs) -> None:
        self.transport, self.runs = transport, runs

    async def create(self, title: str | None = None, *, idempotency_key: str | None = None) -> Session:
        """Creates a session; without a title it gets one after its first turn."""
        return await self.transport.create(SESSIONS, SessionCreate(title=title), Session, idempotency_key)

    def all(self) -> AsyncIterator[Session]:
        """Lists all sessions, most recently changed first."""
        return every(self.transport, SESSIONS, Page[Session])

    async def get(self, session_id: UUID) -> Session:
        return await self.transport.get(path("v1/sessions", session_id), Session)

    async def rename(self, session_id: UUID, title: str, *, version: int | None = None) -> Session:
        """Renames a session; with `version`, raises StaleVersion if it has changed since that version."""
        answer = await self.transport.send(
            "PATCH",
            path("v1/sessions", session_id),
            body=SessionUpdate(title=title),
            headers=_if_match(version),
            repeatable=version is None,
        )
        return self.transport.parse(answer, Session)

    async def delete(self, session_id: UUID, *, version: int | None = None) -> None:
        """Deletes the session with its messages and runs."""
        await self.transport.send("DELETE", path("v1/sessions", session_id), headers=_if_match(version))

    def documents(self, session_id: UUID) -> AsyncIterator[SessionDocument]:
        """Lists the documents attached to a session."""
        return every(self.transport, path("v1/sessions", session_id, "documents"), Page[SessionDocument])

    async def attach(self, session_id: UUID, document_id: UUID) -> SessionDocument:
        """Attaches a document of the workspace; does nothing if it is already attached."""
        place = path("v1/sessions", session_id, "documents", document_id)
        return self.transport.parse(await self.transport.send("PUT", place), SessionDocument)

    async def detach(self, session_id: UUID, document_id: UUID) -> None:
        """Detaches a document from a session; the document itself stays."""
        await self.transport.send("DELETE", path("v1/sessions", session_id, "documents", document_id))

    def messages(self, session_id: UUID) -> AsyncIterator[Message]:
        """Lists all messages, oldest first."""
        return every(self.transport, path("v1/sessions", session_id, "messages"), Page[Message])

    async def send(
        self,
        session_id: UUID,
        content: str,
        *,
        document_ids: Sequence[UUID] | None = None,
        idempotency_key: str | None = None,
    ) -> Run:
        """Sends a message and queues the run that answers it, from `document_ids` alone if given."""
        body = MessageCreate(content=content, document_ids=None if document_ids is None else list(document_ids))
        return await self.transport.create(path("v1/sessions", session_id, "messages"), body, Run, idempotency_key)

    async def ask(
        self, session_id: UUID, content: str, *, document_ids: Sequence[UUID] | None = None
    ) -> AsyncIterator[RunEvent]:
        """Sends a message and yields the run's events up to the terminal one."""
        run = await self.send(session_id, content, document_ids=document_ids)
        async for event in self.runs.events(run.id):
            yield event


def _if_match(version: int | None) -> dict[str, str] | None:
    return None if version is None else {"If-Match": f'"{version}"'}
