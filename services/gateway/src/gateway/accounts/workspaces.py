"""The table of workspaces. Row-level security by workspace does not apply to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from contracts.gateway import Workspace
from service_kit.repository import SystemRepository
from service_kit.statements import Statements


class WorkspaceSql(Statements, file="workspaces.sql", columns="id, name, created_at, key_requests_per_minute"):
    insert: str
    change: str
    find: str
    lock: str
    list: str
    ids_of_user: str
    find_admin: str
    delete_contents: str
    delete: str
    count: str


@dataclass(frozen=True)
class AdminHome:
    workspace_id: UUID
    user_id: UUID


@dataclass(frozen=True)
class RowCounts:
    """Rows of a workspace by table."""

    api_key: int
    invitation: int
    membership: int
    workspace: int = 0


class Workspaces(SystemRepository):
    async def insert(self, workspace_id: UUID, name: str) -> Workspace | None:
        """Returns the new workspace, or None if one with this id exists or existed."""
        return await self.one(WorkspaceSql.insert, Workspace, id=workspace_id, name=name)

    async def find(self, workspace_id: UUID) -> Workspace | None:
        return await self.one(WorkspaceSql.find, Workspace, id=workspace_id)

    async def change(self, workspace_id: UUID, key_requests_per_minute: int | None) -> Workspace | None:
        return await self.one(
            WorkspaceSql.change, Workspace, id=workspace_id, key_requests_per_minute=key_requests_per_minute
        )

    async def lock(self, workspace_id: UUID) -> bool:
        """Returns whether the workspace exists."""
        return bool(await self.value(WorkspaceSql.lock, id=workspace_id))

    async def list(self, only: UUID | None, at: datetime | None, after: UUID | None, limit: int) -> list[Workspace]:
        """Returns workspaces after the given one, oldest first; `only` limits them to one."""
        return await self.all(WorkspaceSql.list, Workspace, only=only, at=at, after=after, limit=limit)

    async def ids_of_user(self, user_id: UUID, limit: int, only: Sequence[UUID] | None = None) -> tuple[UUID, ...]:
        """Returns the workspaces of which the user is a member; `only` limits them to some."""
        some = None if only is None else list(only)
        return tuple(await self.values(WorkspaceSql.ids_of_user, user_id=user_id, limit=limit, only=some))

    async def find_admin(self) -> AdminHome | None:
        return await self.one(WorkspaceSql.find_admin, AdminHome)

    async def delete(self, workspace_id: UUID) -> dict[str, int]:
        """Deletes the workspace with its keys, invitations and members; returns how many rows of each."""
        contents = await self.one(WorkspaceSql.delete_contents, RowCounts, id=workspace_id)
        assert contents is not None, "counts are always returned"
        return asdict(contents) | {"workspace": await self.run(WorkspaceSql.delete, id=workspace_id)}

    async def count(self, workspace_id: UUID) -> dict[str, int]:
        """Returns how many rows are left."""
        counts = await self.one(WorkspaceSql.count, RowCounts, id=workspace_id)
        assert counts is not None, "counts are always returned"
        return asdict(counts)
