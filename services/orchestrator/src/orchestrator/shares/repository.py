"""The shares of a workspace, and whether links are allowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.types.json import Jsonb

from contracts.base import Page
from contracts.random_secrets import secret_sha256
from contracts.share_tokens import ShareToken
from contracts.sharing import Share, ShareAudience, SharedMessage, SharedSession, SharingSettings
from service_kit.pagination import decode_cursor, page
from service_kit.repository import CallerRepository, Repository
from service_kit.statements import Statements


class ShareSql(Statements, file="shares.sql", columns=", ".join(Share.model_fields)):
    insert: str
    delete_expired: str
    page: str
    delete: str
    open: str
    settings: str
    lock_settings: str
    put_settings: str


@dataclass(frozen=True)
class NewShare:
    session_id: UUID
    message_id: UUID
    title: str | None
    audience: ShareAudience
    expires_at: datetime


@dataclass(frozen=True)
class StoredShare:
    """A share that anyone with the secret can read; `messages` are SharedMessages."""

    created_by: UUID
    secret_sha256: bytes
    title: str | None
    audience: ShareAudience
    created_at: datetime
    expires_at: datetime
    messages: list[dict[str, object]]

    def session(self) -> SharedSession:
        return SharedSession(
            title=self.title,
            audience=self.audience,
            created_at=self.created_at,
            expires_at=self.expires_at,
            messages=[SharedMessage.model_validate(message) for message in self.messages],
        )


class CallerShares(CallerRepository):
    """The caller's shares."""

    async def insert(self, token: ShareToken, share: NewShare, messages: Sequence[SharedMessage]) -> Share | None:
        """Stores a share; returns None if one with the token's id exists. Deletes the workspace's ended shares."""
        await self.run(ShareSql.delete_expired)
        return await self.one(
            ShareSql.insert,
            Share,
            id=token.share_id,
            secret_sha256=secret_sha256(token.secret),
            messages=Jsonb([message.model_dump(mode="json") for message in messages]),
            **vars(share),
        )

    async def page(self, session_id: UUID | None, limit: int, cursor: str | None) -> Page[Share]:
        """Returns shares, newest first, of one session or of all."""
        at, before = decode_cursor(cursor)
        rows = await self.all(
            ShareSql.page, Share, session_id=session_id, before_at=at, before_id=before, limit=limit + 1
        )
        return page(rows, limit, lambda share: (share.created_at, share.id))

    async def delete(self, share_id: UUID) -> bool:
        """Deletes the share; returns False if the caller has no share with this id."""
        return await self.run(ShareSql.delete, id=share_id) == 1


class WorkspaceSharing(Repository):
    """All shares in a workspace, and what its owners allow."""

    async def find(self, share_id: UUID) -> StoredShare | None:
        """Returns the share if it can be read now."""
        return await self.one(ShareSql.open, StoredShare, id=share_id)

    async def settings(self) -> SharingSettings:
        return await self.one(ShareSql.settings, SharingSettings) or SharingSettings()

    async def lock_settings(self) -> None:
        """Keeps others from changing the settings until the transaction ends."""
        await self.run(ShareSql.lock_settings)

    async def put_settings(self, links: bool) -> SharingSettings:
        stored = await self.one(ShareSql.put_settings, SharingSettings, links=links)
        assert stored is not None
        return stored
