"""The table of memberships: the roles of users in workspaces."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from contracts.gateway import Member, Role
from service_kit.repository import Repository
from service_kit.statements import Statements

COLUMNS = "member.user_id, app_user.name, member.role, member.created_at, app_user.is_admin"


class MemberSql(Statements, file="members.sql", columns=COLUMNS):
    put: str
    find: str
    list: str
    has_other_owner: str
    delete: str
    is_active: str


@dataclass(frozen=True)
class MemberRow:
    user_id: UUID
    name: str
    role: str
    created_at: datetime
    is_admin: bool

    def resource(self) -> Member:
        return Member(user_id=self.user_id, name=self.name, role=Role(self.role))


class Members(Repository):
    async def put(self, user_id: UUID, role: Role) -> None:
        await self.run(MemberSql.put, user_id=user_id, role=role.value)

    async def find(self, user_id: UUID) -> MemberRow | None:
        return await self.one(MemberSql.find, MemberRow, user_id=user_id)

    async def list(self, at: datetime | None, after: UUID | None, limit: int) -> list[MemberRow]:
        """Returns members after the given one, in the order in which they joined."""
        return await self.all(MemberSql.list, MemberRow, at=at, after=after, limit=limit)

    async def has_other_owner(self, user_id: UUID) -> bool:
        return bool(await self.value(MemberSql.has_other_owner, user_id=user_id))

    async def is_active(self, user_id: UUID) -> bool:
        """Returns whether the user is a member who is not disabled."""
        return bool(await self.value(MemberSql.is_active, user_id=user_id))

    async def delete(self, user_id: UUID) -> None:
        await self.run(MemberSql.delete, user_id=user_id)
