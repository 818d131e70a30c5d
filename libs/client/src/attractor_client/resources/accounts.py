"""The caller, users, workspaces, members, API keys, and the state of the services."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import UUID

from attractor_client.http.pages import every
from attractor_client.http.transport import Transport, path
from contracts.base import Page
from contracts.gateway import (
    ApiKey,
    ApiKeyCreate,
    ApiKeyCreated,
    Caller,
    Member,
    MemberPut,
    Role,
    Status,
    User,
    UserCreate,
    Workspace,
    WorkspaceCreate,
    WorkspaceDeletion,
)

USERS, WORKSPACES = "/v1/users", "/v1/workspaces"


class Accounts:
    """`client.accounts`. Members and keys require an owner's key, users and new workspaces an administrator's."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def me(self) -> Caller:
        """Returns the key's user, workspace and role."""
        return await self.transport.get("/v1/me", Caller)

    async def status(self) -> Status:
        """Returns which services are ready."""
        return await self.transport.get("/v1/status", Status)

    def users(self) -> AsyncIterator[User]:
        return every(self.transport, USERS, Page[User])

    async def create_user(self, name: str, *, idempotency_key: str | None = None) -> User:
        return await self.transport.create(USERS, UserCreate(name=name), User, idempotency_key)

    def workspaces(self) -> AsyncIterator[Workspace]:
        """Lists the workspaces that the caller may see; an administrator sees all."""
        return every(self.transport, WORKSPACES, Page[Workspace])

    async def create_workspace(self, name: str, *, idempotency_key: str | None = None) -> Workspace:
        """Creates a workspace; the caller becomes its first owner."""
        return await self.transport.create(WORKSPACES, WorkspaceCreate(name=name), Workspace, idempotency_key)

    async def delete_workspace(self, workspace: Workspace, timeout: float = 30.0) -> WorkspaceDeletion:
        """Deletes a workspace with everything in it. Requires the key of an owner or an administrator."""
        answer = await self.transport.send(
            "DELETE",
            path("v1/workspaces", workspace.id),
            params={"name": workspace.name, "timeout": timeout},
            timeout=timeout + self.transport.timeout,
        )
        return self.transport.parse(answer, WorkspaceDeletion)

    def members(self, workspace_id: UUID) -> AsyncIterator[Member]:
        return every(self.transport, path("v1/workspaces", workspace_id, "members"), Page[Member])

    async def put_member(self, workspace_id: UUID, user_id: UUID, role: Role) -> Member:
        """Adds the user to the workspace, or changes the role."""
        place = path("v1/workspaces", workspace_id, "members", user_id)
        return self.transport.parse(await self.transport.send("PUT", place, body=MemberPut(role=role)), Member)

    async def remove_member(self, workspace_id: UUID, user_id: UUID) -> None:
        """Removes a member; the user's keys of the workspace are revoked."""
        await self.transport.send("DELETE", path("v1/workspaces", workspace_id, "members", user_id))

    def keys(self, workspace_id: UUID) -> AsyncIterator[ApiKey]:
        """Lists the workspace's keys without their secrets, including revoked ones."""
        return every(self.transport, path("v1/workspaces", workspace_id, "keys"), Page[ApiKey])

    async def create_key(
        self,
        workspace_id: UUID,
        name: str,
        *,
        role: Role = Role.editor,
        user_id: UUID | None = None,
        all_workspaces: bool = False,
        idempotency_key: str | None = None,
    ) -> ApiKeyCreated:
        """Creates a key; only this answer contains the key itself. `user_id` defaults to the caller.

        With `all_workspaces` the key may search every workspace of its user; requires an administrator, or such a key.
        """
        body = ApiKeyCreate(name=name, role=role, user_id=user_id, all_workspaces=all_workspaces)
        place = path("v1/workspaces", workspace_id, "keys")
        return await self.transport.create(place, body, ApiKeyCreated, idempotency_key)

    async def revoke_key(self, workspace_id: UUID, key_id: UUID) -> None:
        await self.transport.send("DELETE", path("v1/workspaces", workspace_id, "keys", key_id))
