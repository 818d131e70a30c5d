"""Read-only snapshots of sessions for others."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from uuid import UUID

from attractor_client.http.pages import every
from attractor_client.http.transport import Transport, path
from contracts.base import Page
from contracts.sharing import (
    Share,
    ShareAudience,
    ShareCreate,
    ShareCreated,
    SharedSession,
    SharingSettings,
    SharingUpdate,
)

SHARING = "/v1/sharing"


class SessionShares:
    """`client.shares`: what the key's user shares, and what others share."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def create(
        self,
        session_id: UUID,
        *,
        message_id: UUID | None = None,
        audience: ShareAudience = ShareAudience.members,
        expires_at: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> ShareCreated:
        """Shares the messages up to one, by default the session's head.

        The share ends at `expires_at`, by default after 30 days. Only this response contains its token.
        """
        body = ShareCreate(message_id=message_id, audience=audience, expires_at=expires_at)
        place = path("v1/sessions", session_id, "shares")
        return await self.transport.create(place, body, ShareCreated, idempotency_key)

    def all(self, session_id: UUID | None = None) -> AsyncIterator[Share]:
        """Lists the user's shares that can be read, newest first, of one session or of all."""
        wanted = {"session_id": str(session_id)} if session_id else None
        return every(self.transport, "/v1/shares", Page[Share], wanted)

    async def end(self, share_id: UUID) -> None:
        await self.transport.send("DELETE", path("v1/shares", share_id))

    async def read(self, token: str) -> SharedSession:
        """Reads a shared session; raises NotFound once the share has ended."""
        return await self.transport.get(path("v1/shared", token), SharedSession)

    def url(self, token: str) -> str:
        """Returns the URL at which the share can be read."""
        return f"{str(self.transport.url).rstrip('/')}{path('v1/shared', token)}"

    async def settings(self) -> SharingSettings:
        return await self.transport.get(SHARING, SharingSettings)

    async def allow_links(self, links: bool) -> SharingSettings:
        """Allows sharing by link, or ends all links. Raises Forbidden unless the caller is an owner."""
        return await self.transport.fetch("PATCH", SHARING, SharingSettings, body=SharingUpdate(links=links))
