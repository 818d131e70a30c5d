"""The table of users, who belong to the deployment: row-level security by workspace does not apply."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from contracts.gateway import User
from service_kit.repository import SystemRepository
from service_kit.statements import Statements


class UserSql(Statements, file="users.sql", columns="id, name, is_admin, created_at"):
    insert: str
    find: str
    list: str


class Users(SystemRepository):
    async def insert(self, user_id: UUID, name: str, *, is_admin: bool = False) -> User | None:
        """Returns the new user, or None if there is one with this id."""
        return await self.one(UserSql.insert, User, id=user_id, name=name, is_admin=is_admin)

    async def find(self, user_id: UUID) -> User | None:
        return await self.one(UserSql.find, User, id=user_id)

    async def list(self, at: datetime | None, after: UUID | None, limit: int) -> list[User]:
        """Returns users from the oldest on, after the given one."""
        return await self.all(UserSql.list, User, at=at, after=after, limit=limit)
