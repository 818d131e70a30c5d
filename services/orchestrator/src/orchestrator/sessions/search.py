"""Full-text search over the titles and messages of one user's sessions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from contracts.base import Page
from contracts.orchestrator import MessageRole, SessionHit
from orchestrator.sessions.snippets import snippet
from service_kit.pagination import decode_cursor, page
from service_kit.repository import CallerRepository
from service_kit.statements import Statements


class SessionTextSql(Statements, file="search.sql"):
    search: str


@dataclass(frozen=True)
class FoundText:
    """A title, or a message; `id` is the session's or the message's."""

    id: UUID
    session_id: UUID
    title: str | None
    archived: bool
    is_title: bool
    role: MessageRole | None
    written_at: datetime
    content: str


class SessionTexts(CallerRepository):
    """The texts of the caller's sessions."""

    async def search(self, query: str, limit: int, cursor: str | None) -> Page[SessionHit]:
        """Returns hits, newest first."""
        at, before = decode_cursor(cursor)
        rows = await self.all(
            SessionTextSql.search, FoundText, query=query, before_at=at, before_id=before, limit=limit + 1
        )
        return page(rows, limit, lambda found: (found.written_at, found.id), lambda found: _hit(found, query))


def _hit(found: FoundText, query: str) -> SessionHit:
    return SessionHit(
        session_id=found.session_id,
        title=found.title,
        archived=found.archived,
        message_id=None if found.is_title else found.id,
        role=found.role,
        snippet=snippet(found.content, query),
        written_at=found.written_at,
    )
