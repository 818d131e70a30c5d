"""The table of web sessions, and the memberships that a session may choose from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from contracts.gateway import Role, User, Workspace
from contracts.sign_in import OwnWorkspace, WebSession
from gateway.accounts.caller import SignedIn
from service_kit.repository import SystemRepository
from service_kit.statements import Statements

COLUMNS = "id, method, address, user_agent, created_at, last_used_at, expires_at"


class WebSessionSql(Statements, file="sessions.sql", columns=COLUMNS):
    insert: str
    authenticate: str
    touch: str
    find: str
    of_user: str
    delete: str
    delete_presented: str
    delete_of_user: str
    delete_ended: str
    insert_code: str
    take_code: str
    memberships: str


@dataclass(frozen=True)
class SessionRow:
    """A session that has not ended. `key_id`: the key with which it was begun. `is_stale`: its last use was recorded
    more than a minute ago.
    """

    id: UUID
    key_id: UUID | None
    is_stale: bool
    user_id: UUID
    user_name: str
    email: str | None
    is_admin: bool
    user_created_at: datetime

    def signed_in(self) -> SignedIn:
        user = User(
            id=self.user_id,
            name=self.user_name,
            email=self.email,
            is_admin=self.is_admin,
            created_at=self.user_created_at,
        )
        return SignedIn(self.id, user)


@dataclass(frozen=True)
class Membership:
    """A workspace, and its member's role."""

    id: UUID
    name: str
    created_at: datetime
    key_requests_per_minute: int | None
    role: str

    def resource(self) -> OwnWorkspace:
        workspace = Workspace(
            id=self.id,
            name=self.name,
            created_at=self.created_at,
            key_requests_per_minute=self.key_requests_per_minute,
        )
        return OwnWorkspace(workspace=workspace, role=Role(self.role))


class WebSessionRows(SystemRepository):
    """`idle` is in seconds: how long a session may be unused."""

    async def insert(
        self,
        session_id: UUID,
        user_id: UUID,
        key_id: UUID | None,
        secret_sha256: bytes,
        method: str,
        address: str,
        agent: str,
        seconds: int,
    ) -> WebSession:
        values = {"id": session_id, "user_id": user_id, "key_id": key_id, "secret_sha256": secret_sha256}
        made = await self.one(
            WebSessionSql.insert,
            WebSession,
            **values,
            method=method,
            address=address,
            user_agent=agent,
            seconds=seconds,
        )
        assert made is not None, "a new random id is free"
        return made

    async def authenticate(self, secret_sha256: bytes, idle: int) -> SessionRow | None:
        """Returns the session with this secret, and records its use, exact to a minute."""
        row = await self.one(WebSessionSql.authenticate, SessionRow, secret_sha256=secret_sha256, idle=idle)
        if row and row.is_stale:
            await self.run(WebSessionSql.touch, id=row.id)
        return row

    async def find(self, session_id: UUID) -> WebSession | None:
        return await self.one(WebSessionSql.find, WebSession, id=session_id)

    async def of_user(
        self, user_id: UUID, idle: int, at: datetime | None, after: UUID | None, limit: int
    ) -> list[WebSession]:
        """Returns the user's sessions that have not ended, oldest first."""
        return await self.all(
            WebSessionSql.of_user, WebSession, user_id=user_id, idle=idle, at=at, after=after, limit=limit
        )

    async def delete(self, user_id: UUID, session_id: UUID) -> bool:
        """Deletes the session; returns whether the user had it."""
        return await self.run(WebSessionSql.delete, user_id=user_id, id=session_id) > 0

    async def delete_presented(self, secret_sha256: bytes) -> None:
        await self.run(WebSessionSql.delete_presented, secret_sha256=secret_sha256)

    async def delete_of_user(self, user_id: UUID, but: UUID | None = None) -> None:
        await self.run(WebSessionSql.delete_of_user, user_id=user_id, but=but)

    async def delete_ended(self, idle: int) -> None:
        await self.run(WebSessionSql.delete_ended, idle=idle)

    async def insert_code(self, secret_sha256: bytes, key_id: UUID, seconds: int) -> datetime:
        """Stores a code; returns when it expires."""
        ends: datetime = await self.value(
            WebSessionSql.insert_code, secret_sha256=secret_sha256, key_id=key_id, seconds=seconds
        )
        return ends

    async def take_code(self, secret_sha256: bytes) -> UUID | None:
        """Uses up the code; returns the id of the key that it was created with, None if it is not valid."""
        key_id: UUID | None = await self.value(WebSessionSql.take_code, secret_sha256=secret_sha256)
        return key_id

    async def memberships(
        self,
        user_id: UUID,
        limit: int,
        only: UUID | None = None,
        at: datetime | None = None,
        after: UUID | None = None,
    ) -> list[Membership]:
        """Returns the user's workspaces, oldest first; `only` limits them to one."""
        return await self.all(
            WebSessionSql.memberships, Membership, user_id=user_id, only=only, at=at, after=after, limit=limit
        )
