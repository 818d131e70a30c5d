"""Every query over users, workspaces, members and keys. The caller opens the transaction."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from psycopg.rows import class_row

from contracts.gateway import ApiKey, Member, Role, User, Workspace
from gateway.caller import Authenticated
from gateway.paging import Place
from service_kit.postgres import Connection
from service_kit.queries import load

SQL = load("gateway")
T = TypeVar("T")


@dataclass(frozen=True)
class KeyRow:
    """What authentication reads of a key that is not revoked."""

    key_id: UUID
    secret_sha256: bytes
    role: str
    all_workspaces: bool
    user_id: UUID
    user_name: str
    is_admin: bool
    user_created_at: datetime
    workspace_id: UUID
    workspace_name: str
    workspace_created_at: datetime

    def caller(self) -> Authenticated:
        user = User(id=self.user_id, name=self.user_name, is_admin=self.is_admin, created_at=self.user_created_at)
        workspace = Workspace(id=self.workspace_id, name=self.workspace_name, created_at=self.workspace_created_at)
        return Authenticated(self.key_id, user, workspace, Role(self.role), self.all_workspaces)


@dataclass(frozen=True)
class MemberRow:
    user_id: UUID
    name: str
    role: str
    created_at: datetime
    is_admin: bool = False

    def member(self) -> Member:
        return Member(user_id=self.user_id, name=self.name, role=Role(self.role))


@dataclass(frozen=True)
class KeyState:
    id: UUID
    secret_sha256: bytes
    revoked: bool
    is_admin: bool


async def find_for_authentication(connection: Connection, key_id: UUID) -> KeyRow | None:
    async with connection.cursor(row_factory=class_row(KeyRow)) as cursor:
        return await (await cursor.execute(SQL["authenticate"], {"id": key_id})).fetchone()


async def insert_user(connection: Connection, user_id: UUID, name: str, is_admin: bool = False) -> User:
    async with connection.cursor(row_factory=class_row(User)) as cursor:
        values = {"id": user_id, "name": name, "is_admin": is_admin}
        return _the(await (await cursor.execute(SQL["insert_user"], values)).fetchone())


async def find_user(connection: Connection, user_id: UUID) -> User | None:
    async with connection.cursor(row_factory=class_row(User)) as cursor:
        query = "SELECT id, name, is_admin, created_at FROM app_user WHERE id = %(id)s"
        return await (await cursor.execute(query, {"id": user_id})).fetchone()


async def list_users(connection: Connection, place: Place) -> list[User]:
    async with connection.cursor(row_factory=class_row(User)) as cursor:
        return await (await cursor.execute(SQL["list_users"], place.values())).fetchall()


async def insert_workspace(connection: Connection, workspace_id: UUID, name: str) -> Workspace:
    async with connection.cursor(row_factory=class_row(Workspace)) as cursor:
        values = {"id": workspace_id, "name": name}
        return _the(await (await cursor.execute(SQL["insert_workspace"], values)).fetchone())


async def find_workspace(connection: Connection, workspace_id: UUID) -> Workspace | None:
    async with connection.cursor(row_factory=class_row(Workspace)) as cursor:
        query = "SELECT id, name, created_at FROM workspace WHERE id = %(id)s"
        return await (await cursor.execute(query, {"id": workspace_id})).fetchone()


async def lock_workspace(connection: Connection, workspace_id: UUID) -> bool:
    """Until the transaction ends, nobody else changes who is in the workspace; False when there is none."""
    query = "SELECT 1 FROM workspace WHERE id = %(id)s FOR UPDATE"
    return await (await connection.execute(query, {"id": workspace_id})).fetchone() is not None


async def list_workspaces(connection: Connection, only: UUID | None, place: Place) -> list[Workspace]:
    async with connection.cursor(row_factory=class_row(Workspace)) as cursor:
        return await (await cursor.execute(SQL["list_workspaces"], {"only": only} | place.values())).fetchall()


async def put_member(connection: Connection, workspace_id: UUID, user_id: UUID, role: Role) -> None:
    values = {"workspace_id": workspace_id, "user_id": user_id, "role": role.value}
    await connection.execute(SQL["put_member"], values)


async def find_member(connection: Connection, workspace_id: UUID, user_id: UUID) -> MemberRow | None:
    async with connection.cursor(row_factory=class_row(MemberRow)) as cursor:
        values = {"workspace_id": workspace_id, "user_id": user_id}
        return await (await cursor.execute(SQL["find_member"], values)).fetchone()


async def list_members(connection: Connection, workspace_id: UUID, place: Place) -> list[MemberRow]:
    async with connection.cursor(row_factory=class_row(MemberRow)) as cursor:
        values = {"workspace_id": workspace_id} | place.values()
        return await (await cursor.execute(SQL["list_members"], values)).fetchall()


async def has_other_owner(connection: Connection, workspace_id: UUID, user_id: UUID) -> bool:
    values = {"workspace_id": workspace_id, "user_id": user_id}
    return bool(_the(await (await connection.execute(SQL["has_other_owner"], values)).fetchone())[0])


async def remove_member(connection: Connection, workspace_id: UUID, user_id: UUID) -> None:
    """The member's keys of this workspace are revoked with it."""
    values = {"workspace_id": workspace_id, "user_id": user_id}
    await connection.execute(SQL["revoke_keys_of_member"], values)
    query = "DELETE FROM membership WHERE workspace_id = %(workspace_id)s AND user_id = %(user_id)s"
    await connection.execute(query, values)


async def workspaces_of_user(connection: Connection, user_id: UUID, limit: int) -> tuple[UUID, ...]:
    """Those that he is a member of, oldest first."""
    cursor = await connection.execute(SQL["workspaces_of_user"], {"user_id": user_id, "limit": limit})
    return tuple(row[0] for row in await cursor.fetchall())


async def insert_key(
    connection: Connection,
    key_id: UUID,
    owner: tuple[UUID, UUID],
    name: str,
    role: Role,
    secret_sha256: bytes,
    *,
    all_workspaces: bool = False,
) -> ApiKey | None:
    """`owner` is (workspace, user); None when a key of this id exists."""
    values = {"id": key_id, "workspace_id": owner[0], "user_id": owner[1], "name": name, "role": role.value}
    values |= {"all_workspaces": all_workspaces}
    async with connection.cursor(row_factory=class_row(ApiKey)) as cursor:
        result = await cursor.execute(SQL["insert_key"], values | {"secret_sha256": secret_sha256})
        return await result.fetchone()


async def find_key(connection: Connection, workspace_id: UUID, key_id: UUID) -> KeyState | None:
    async with connection.cursor(row_factory=class_row(KeyState)) as cursor:
        values = {"workspace_id": workspace_id, "id": key_id}
        return await (await cursor.execute(SQL["find_key"], values)).fetchone()


async def list_keys(connection: Connection, workspace_id: UUID, place: Place) -> list[ApiKey]:
    async with connection.cursor(row_factory=class_row(ApiKey)) as cursor:
        values = {"workspace_id": workspace_id} | place.values()
        return await (await cursor.execute(SQL["list_keys"], values)).fetchall()


async def revoke_key(connection: Connection, workspace_id: UUID, key_id: UUID) -> None:
    await connection.execute(SQL["revoke_key"], {"workspace_id": workspace_id, "id": key_id})


async def has_admin_key(connection: Connection, outside: UUID | None = None) -> bool:
    """Whether an administrator can get in, with a key of another workspace than the one given."""
    cursor = await connection.execute(SQL["has_admin_key"], {"outside": outside})
    return bool(_the(await cursor.fetchone())[0])


def _the(row: T | None) -> T:
    assert row is not None, "the statement always returns a row"
    return row
