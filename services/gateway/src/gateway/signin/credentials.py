"""The tables of passwords and of one-time links to set one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from contracts.gateway import User
from service_kit.repository import SystemRepository
from service_kit.statements import Statements

COLUMNS = (
    "app_user.id, app_user.name, app_user.email, app_user.is_admin, app_user.created_at, "
    "app_user.disabled_at, password.hash"
)


class CredentialSql(Statements, file="credentials.sql", columns=COLUMNS):
    find: str
    of_user: str
    put: str
    rehash: str
    put_link: str
    find_link: str
    delete_link: str


@dataclass(frozen=True)
class PasswordUser:
    """A user, and the hash of the password, if one is set."""

    id: UUID
    name: str
    email: str | None
    is_admin: bool
    created_at: datetime
    disabled_at: datetime | None
    hash: str | None

    @property
    def user(self) -> User:
        return User(id=self.id, name=self.name, email=self.email, is_admin=self.is_admin, created_at=self.created_at)


class SignInCredentials(SystemRepository):
    async def find(self, login: str) -> PasswordUser | None:
        """Returns the user with this e-mail address, otherwise the oldest user with this name."""
        return await self.one(CredentialSql.find, PasswordUser, login=login)

    async def of_user(self, user_id: UUID) -> PasswordUser | None:
        return await self.one(CredentialSql.of_user, PasswordUser, user_id=user_id)

    async def put(self, user_id: UUID, hashed: str) -> None:
        await self.run(CredentialSql.put, user_id=user_id, hash=hashed)

    async def rehash(self, user_id: UUID, old: str, hashed: str) -> None:
        await self.run(CredentialSql.rehash, user_id=user_id, old=old, hash=hashed)

    async def put_link(self, user_id: UUID, secret_sha256: bytes, created_by: UUID, seconds: int) -> datetime:
        """Stores a link, which replaces the user's earlier one; returns when it expires."""
        values = {"secret_sha256": secret_sha256, "created_by": created_by, "seconds": seconds}
        ends: datetime = await self.value(CredentialSql.put_link, user_id=user_id, **values)
        return ends

    async def find_link(self, secret_sha256: bytes) -> PasswordUser | None:
        """Returns the link's user, and keeps others from using the link until the transaction ends."""
        return await self.one(CredentialSql.find_link, PasswordUser, secret_sha256=secret_sha256)

    async def delete_link(self, user_id: UUID) -> None:
        await self.run(CredentialSql.delete_link, user_id=user_id)
