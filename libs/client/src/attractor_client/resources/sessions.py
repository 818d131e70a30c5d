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
    """`client.sessions`: the key's user's own."""

    def __init__(self, transport: Transport, runs: Runs) -> None:
        self.transport, self.runs = transport, runs

    async def create(self, title: str | None = None, *, idempotency_key: str | None = None) -> Session:
        """Without a title it gets one after its first turn."""
        return await self.transport.create(SESSIONS, SessionCreate(title=title), Session, idempotency_key)

    def all(self) -> AsyncIterator[Session]:
        """Every session, the one changed last first."""
        return every(self.transport, SESSIONS, Page[Session])

    async def get(self, session_id: UUID) -> Session:
        return await self.transport.get(path("v1/sessions", session_id), Session)

    async def rename(self, session_id: UUID, title: str, *, version: int | None = None) -> Session:
        """With `version`, raises StaleVersion when the session has changed since that version."""
        answer = await self.transport.send(
            "PATCH",
            path("v1/sessions", session_id),
            body=SessionUpdate(title=title),
            headers=_if_match(version),
            repeatable=version is None,
        )
        return self.transport.parse(answer, Session)

    async def delete(self, session_id: UUID, *, version: int | None = None) -> None:
        """Removes the session with its messages and runs."""
        await self.transport.send("DELETE", path("v1/sessions", session_id), headers=_if_match(version))

    def documents(self, session_id: UUID) -> AsyncIterator[SessionDocument]:
        """Those that are attached to it: what a search with its id as scope is limited to."""
        return every(self.transport, path("v1/sessions", session_id, "documents"), Page[SessionDocument])

    async def attach(self, session_id: UUID, document_id: UUID) -> SessionDocument:
        """Attaches a document of the workspace; nothing changes when it is attached already."""
        place = path("v1/sessions", session_id, "documents", document_id)
        return self.transport.parse(await self.transport.send("PUT", place), SessionDocument)

    async def detach(self, session_id: UUID, document_id: UUID) -> None:
        """The document itself stays."""
        await self.transport.send("DELETE", path("v1/sessions", session_id, "documents", document_id))

    def messages(self, session_id: UUID) -> AsyncIterator[Message]:
        """Every message, oldest first."""
        return every(self.transport, path("v1/sessions", session_id, "messages"), Page[Message])

    async def send(
        self,
        session_id: UUID,
        content: str,
        *,
        document_ids: Sequence[UUID] | None = None,
        idempotency_key: str | None = None,
    ) -> Run:
        """Accepts the message and queues the run that answers it; `document_ids` limits what it may draw on."""
        body = MessageCreate(content=content, document_ids=None if document_ids is None else list(document_ids))
        return await self.transport.create(path("v1/sessions", session_id, "messages"), body, Run, idempotency_key)

    async def ask(
        self, session_id: UUID, content: str, *, document_ids: Sequence[UUID] | None = None
    ) -> AsyncIterator[RunEvent]:
        """`send`, then the run's events up to its terminal one."""
        run = await self.send(session_id, content, document_ids=document_ids)
        async for event in self.runs.events(run.id):
            yield event


def _if_match(version: int | None) -> dict[str, str] | None:
    return None if version is None else {"If-Match": f'"{version}"'}
