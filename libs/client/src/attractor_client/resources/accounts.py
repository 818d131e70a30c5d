"""The caller, users, workspaces, members, invitations, API keys, and the state of the services."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from datetime import datetime
from uuid import UUID

from attractor_client.http.pages import every
from attractor_client.http.transport import Transport, path
from contracts.base import Page
from contracts.gateway import (
    ApiKey,
    ApiKeyCreate,
    ApiKeyCreated,
    Caller,
    Invitation,
    InvitationAccept,
    InvitationAccepted,
    InvitationCreate,
    InvitationCreated,
    LimitedWorkspace,
    Member,
    MemberPut,
    Role,
    Status,
    User,
    UserCreate,
    UserPatch,
    Workspace,
    WorkspaceCreate,
    WorkspaceDeletion,
    WorkspacePatch,
)
from contracts.ingestion import QuotaChoice, WorkspaceQuota
from contracts.sign_in import PasswordLink

USERS, WORKSPACES, ACCEPT, QUOTA = "/v1/users", "/v1/workspaces", "/v1/invitations/accept", "/v1/quota"


class Accounts:
    """`client.accounts`. Members and invitations require an owner's key, users and new workspaces an administrator's.

    Users create, list and revoke their own keys; owners list and revoke all keys of their workspace.
    """

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def me(self) -> Caller:
        """Returns the key's user, workspace and role."""
        return await self.transport.get("/v1/me", Caller)

    async def status(self) -> Status:
        """Returns which services are ready."""
        return await self.transport.get("/v1/status", Status)

    def users(self) -> AsyncIterator[User]:
        """Lists the users of the deployment, the oldest first."""
        return every(self.transport, USERS, Page[User])

    async def create_user(self, name: str, *, idempotency_key: str | None = None) -> User:
        """Creates a user without a key. To give a person access, use `invite`."""
        return await self.transport.create(USERS, UserCreate(name=name), User, idempotency_key)

    async def change_user(self, user_id: UUID, *, disabled: bool | None = None, is_admin: bool | None = None) -> User:
        """Disables or enables a user, or grants or withdraws administrator rights; None leaves it as it is.

        Raises Conflict if no administrator with a valid key, or another way to sign in, would be left.
        """
        body = UserPatch(disabled=disabled, is_admin=is_admin)
        return await self.transport.fetch("PATCH", path("v1/users", user_id), User, body=body, repeatable=True)

    async def delete_user(self, user_id: UUID) -> None:
        """Deletes a user with memberships, keys and invitations. Raises Conflict for a workspace's only owner."""
        await self.transport.send("DELETE", path("v1/users", user_id))

    def workspaces(self) -> AsyncIterator[Workspace]:
        """Lists the workspaces that the caller may see; an administrator sees all."""
        return every(self.transport, WORKSPACES, Page[Workspace])

    async def create_workspace(self, name: str, *, idempotency_key: str | None = None) -> Workspace:
        """Creates a workspace; the caller becomes its first owner."""
        return await self.transport.create(WORKSPACES, WorkspaceCreate(name=name), Workspace, idempotency_key)

    async def delete_workspace(self, workspace: Workspace, timeout: float = 30.0) -> WorkspaceDeletion:
        """Deletes a workspace with everything in it. Requires the key of an owner or an administrator."""
        return await self.transport.fetch(
            "DELETE",
            path("v1/workspaces", workspace.id),
            WorkspaceDeletion,
            params={"name": workspace.name, "timeout": timeout},
            timeout=timeout + self.transport.timeout,
        )

    async def workspace(self, workspace_id: UUID) -> LimitedWorkspace:
        """Returns a workspace that the caller may see, with the limit of its keys that is in force."""
        return await self.transport.get(path("v1/workspaces", workspace_id), LimitedWorkspace)

    async def change_workspace(self, workspace_id: UUID, change: WorkspacePatch) -> LimitedWorkspace:
        """Changes the fields that are set; requires an owner's key."""
        place = path("v1/workspaces", workspace_id)
        return await self.transport.fetch("PATCH", place, LimitedWorkspace, body=change, nulls=True, repeatable=True)

    async def quota(self) -> WorkspaceQuota:
        """Returns how many documents, bytes and sources the key's workspace has, and may have."""
        return await self.transport.get(QUOTA, WorkspaceQuota)

    async def change_quota(self, change: QuotaChoice) -> WorkspaceQuota:
        """Limits the key's workspace by the fields that are set; requires an owner's key."""
        return await self.transport.fetch("PATCH", QUOTA, WorkspaceQuota, body=change, nulls=True, repeatable=True)

    def members(self, workspace_id: UUID) -> AsyncIterator[Member]:
        return every(self.transport, path("v1/workspaces", workspace_id, "members"), Page[Member])

    async def put_member(self, workspace_id: UUID, user_id: UUID, role: Role) -> Member:
        """Changes a member's role. An administrator also adds users; owners `invite` them."""
        place = path("v1/workspaces", workspace_id, "members", user_id)
        return await self.transport.fetch("PUT", place, Member, body=MemberPut(role=role))

    async def remove_member(self, workspace_id: UUID, user_id: UUID) -> None:
        """Removes a member; the user's keys of the workspace are revoked."""
        await self.transport.send("DELETE", path("v1/workspaces", workspace_id, "members", user_id))

    def invitations(self, workspace_id: UUID) -> AsyncIterator[Invitation]:
        """Lists the workspace's invitations without their tokens, including those that are no longer open."""
        return every(self.transport, path("v1/workspaces", workspace_id, "invitations"), Page[Invitation])

    async def invite(
        self,
        workspace_id: UUID,
        *,
        role: Role = Role.editor,
        name: str | None = None,
        note: str | None = None,
        expires_at: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> InvitationCreated:
        """Creates an invitation; only this response contains its one-time token. No e-mail is sent.

        It is open for seven days, or until `expires_at`.
        """
        body = InvitationCreate(role=role, name=name, note=note, expires_at=expires_at)
        place = path("v1/workspaces", workspace_id, "invitations")
        return await self.transport.create(place, body, InvitationCreated, idempotency_key)

    async def revoke_invitation(self, workspace_id: UUID, invitation_id: UUID) -> None:
        await self.transport.send("DELETE", path("v1/workspaces", workspace_id, "invitations", invitation_id))

    async def accept_invitation(
        self,
        token: str,
        *,
        name: str | None = None,
        key_name: str = "first key",
        workspaces: Iterable[UUID] = (),
    ) -> InvitationAccepted:
        """Joins a workspace: as the client's user, or as a new one called `name` if the client has no key.

        Only this response contains the key of the workspace. The call is not retried, because the token works once.
        """
        body = InvitationAccept(token=token, name=name, key_name=key_name, workspaces=list(workspaces))
        return await self.transport.fetch("POST", ACCEPT, InvitationAccepted, body=body)

    def keys(self, workspace_id: UUID) -> AsyncIterator[ApiKey]:
        """Lists keys without their secrets, including revoked ones: the workspace's for owners, own ones for others."""
        return every(self.transport, path("v1/workspaces", workspace_id, "keys"), Page[ApiKey])

    async def create_key(
        self,
        workspace_id: UUID,
        name: str,
        *,
        role: Role = Role.editor,
        all_workspaces: bool = False,
        workspaces: Iterable[UUID] = (),
        expires_at: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> ApiKeyCreated:
        """Creates a key in the caller's name; only this response contains the key itself.

        It may also search `workspaces`, or with `all_workspaces` every workspace of its user; the client's own key must
        be able to read these, too. It expires at `expires_at`.
        """
        body = ApiKeyCreate(
            name=name,
            role=role,
            all_workspaces=all_workspaces,
            workspaces=list(workspaces),
            expires_at=expires_at,
        )
        place = path("v1/workspaces", workspace_id, "keys")
        return await self.transport.create(place, body, ApiKeyCreated, idempotency_key)

    async def revoke_key(self, workspace_id: UUID, key_id: UUID) -> None:
        await self.transport.send("DELETE", path("v1/workspaces", workspace_id, "keys", key_id))

    async def set_password(self, new: str, old: str | None = None) -> None:
        """Sets the user's own password and ends the user's other web sessions. `old` is required if one is set."""
        content = json.dumps({"new_password": new} | ({} if old is None else {"old_password": old})).encode()
        headers = {"Content-Type": "application/json"}
        await self.transport.send("PUT", "/v1/auth/password", content=content, headers=headers, repeatable=False)

    async def create_password_link(self, user_id: UUID) -> PasswordLink:
        """Returns a token with which the user sets a password once, within a day. Requires an administrator's key."""
        return await self.transport.fetch("POST", path("v1/users", user_id, "password-links"), PasswordLink)
