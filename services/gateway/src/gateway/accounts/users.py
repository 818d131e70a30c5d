"""The table of users, who belong to the deployment: row-level security by workspace does not apply."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from psycopg.errors import UniqueViolation

from contracts.gateway import User, UserPatch
from gateway.errors import EmailTaken
from service_kit.repository import SystemRepository
from service_kit.statements import Statements


class UserSql(Statements, file="users.sql", columns="id, name, email, is_admin, created_at, disabled_at"):
    insert: str
    find: str
    list: str
    change: str
    lock_workspaces: str
    sole_owner_of: str
    delete_contents: str
    delete: str


class Users(SystemRepository):
    async def insert(
        self, user_id: UUID, name: str, email: str | None = None, *, is_admin: bool = False
    ) -> User | None:
        """Returns the new user, or None if one with this id exists. Raises EmailTaken."""
        try:
            return await self.one(UserSql.insert, User, id=user_id, name=name, email=email, is_admin=is_admin)
        except UniqueViolation as error:
            raise EmailTaken from error

    async def find(self, user_id: UUID) -> User | None:
        return await self.one(UserSql.find, User, id=user_id)

    async def list(self, at: datetime | None, after: UUID | None, limit: int) -> list[User]:
        """Returns users after the given one, oldest first."""
        return await self.all(UserSql.list, User, at=at, after=after, limit=limit)

    async def change(self, user_id: UUID, body: UserPatch) -> User | None:
        """Returns the changed user, or None if there is no such user. Raises EmailTaken."""
        values = {"disabled": body.disabled, "is_admin": body.is_admin, "email": body.email}
        try:
            return await self.one(UserSql.change, User, id=user_id, **values)
        except UniqueViolation as error:
            raise EmailTaken from error

    async def sole_owner_of(self, user_id: UUID) -> tuple[UUID, ...]:
        """Returns the workspaces without another owner, and locks their memberships until the transaction ends."""
        await self.values(UserSql.lock_workspaces, id=user_id)
        return tuple(await self.values(UserSql.sole_owner_of, id=user_id))

    async def delete(self, user_id: UUID) -> None:
        """Deletes the user with memberships, keys and the invitations that the user made."""
        await self.run(UserSql.delete_contents, id=user_id)
        await self.run(UserSql.delete, id=user_id)
