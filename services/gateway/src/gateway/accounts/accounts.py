"""Use cases of workspaces and members."""

from __future__ import annotations

from uuid import UUID

from contracts.base import Page
from contracts.gateway import LimitedWorkspace, Member, MemberPut, Role, Workspace, WorkspaceCreate, WorkspacePatch
from gateway.accounts.caller import Authenticated
from gateway.accounts.keys import Keys
from gateway.accounts.members import MemberRow, Members
from gateway.accounts.users import Users
from gateway.accounts.workspaces import Workspaces
from gateway.errors import IdempotencyKeyReused, LastOwner, UnknownMember, UnknownUser, UnknownWorkspace
from service_kit.idempotency import creation_id
from service_kit.pagination import decode_cursor, page
from service_kit.postgres import Database


class Accounts:
    """Each method is one transaction, and raises a Forbidden or NotFound problem if the caller may not do it.

    `key_requests_per_minute` is the operator's limit; 0 means none.
    """

    def __init__(self, database: Database, key_requests_per_minute: int) -> None:
        self.database, self.key_requests_per_minute = database, key_requests_per_minute

    async def create_workspace(
        self, caller: Authenticated, body: WorkspaceCreate, idempotency_key: str | None
    ) -> Workspace:
        """Creates a workspace whose first owner is the caller.

        Raises IdempotencyKeyReused if the key created a workspace with another name, or one that has been deleted.
        """
        caller.must_be_admin()
        workspace_id = creation_id(caller.credential_id, idempotency_key, "workspace/")
        async with self.database.system() as connection:  # one workspace cannot see whether another was deleted
            workspaces = Workspaces(connection)
            workspace = await workspaces.insert(workspace_id, body.name)
            if workspace:
                await Members(connection, workspace_id).put(caller.user.id, Role.owner)
                return workspace
            workspace = await workspaces.find(workspace_id)
        if workspace is None or workspace.name != body.name:
            raise IdempotencyKeyReused
        return workspace

    async def workspaces(self, caller: Authenticated, limit: int, cursor: str | None) -> Page[Workspace]:
        """Lists all workspaces for an administrator, and the key's own for everyone else."""
        only = None if caller.is_admin else caller.workspace.id
        async with self.database.workspace(caller.workspace.id) as connection:
            rows = await Workspaces(connection).list(only, *decode_cursor(cursor), limit + 1)
        return page(rows, limit, lambda workspace: (workspace.created_at, workspace.id))

    async def workspace(self, caller: Authenticated, workspace_id: UUID) -> LimitedWorkspace:
        caller.must_see(workspace_id)
        async with self.database.workspace(workspace_id) as connection:
            workspace = await Workspaces(connection).find(workspace_id)
        return self._limited(workspace)

    async def change_workspace(
        self, caller: Authenticated, workspace_id: UUID, body: WorkspacePatch
    ) -> LimitedWorkspace:
        caller.must_own(workspace_id)
        async with self.database.workspace(workspace_id) as connection:
            workspaces = Workspaces(connection)
            if "key_requests_per_minute" in body.model_fields_set:
                workspace = await workspaces.change(workspace_id, body.key_requests_per_minute)
            else:
                workspace = await workspaces.find(workspace_id)
        return self._limited(workspace)

    def _limited(self, workspace: Workspace | None) -> LimitedWorkspace:
        if workspace is None:
            raise UnknownWorkspace
        limits = (self.key_requests_per_minute, workspace.key_requests_per_minute)
        most = min((one for one in limits if one), default=None)
        return LimitedWorkspace(**dict(workspace), most_key_requests_per_minute=most)

    async def members(self, caller: Authenticated, workspace_id: UUID, limit: int, cursor: str | None) -> Page[Member]:
        caller.must_own(workspace_id)
        async with self.database.workspace(workspace_id) as connection:
            if await Workspaces(connection).find(workspace_id) is None:
                raise UnknownWorkspace
            rows = await Members(connection, workspace_id).list(*decode_cursor(cursor), limit + 1)
        return page(rows, limit, lambda row: (row.created_at, row.user_id), MemberRow.resource)

    async def put_member(self, caller: Authenticated, workspace_id: UUID, user_id: UUID, body: MemberPut) -> Member:
        """Changes a member's role, which also limits the member's keys. Administrators may add anyone.

        For everyone else, a user who is not a member does not exist: they invite, and the invited user accepts.
        """
        caller.must_own(workspace_id)
        async with self.database.workspace(workspace_id) as connection:
            if not await Workspaces(connection).lock(workspace_id):
                raise UnknownWorkspace
            members = Members(connection, workspace_id)
            present = await members.find(user_id)
            if present is None and not caller.is_admin:
                raise UnknownMember
            user = await Users(connection).find(user_id)
            if user is None:
                raise UnknownUser
            caller.may_act_on(user.is_admin)
            if present and body.role is not Role.owner:
                await _must_leave_an_owner(members, present)
            await members.put(user_id, body.role)
        return Member(user_id=user.id, name=user.name, role=body.role)

    async def remove_member(self, caller: Authenticated, workspace_id: UUID, user_id: UUID) -> None:
        """Removes the user from the workspace and revokes the user's keys for it."""
        caller.must_own(workspace_id)
        async with self.database.workspace(workspace_id) as connection:
            if not await Workspaces(connection).lock(workspace_id):
                raise UnknownWorkspace
            members = Members(connection, workspace_id)
            member = await members.find(user_id)
            if member is None:
                raise UnknownMember
            caller.may_act_on(member.is_admin)
            await _must_leave_an_owner(members, member)
            await Keys(connection, workspace_id).revoke_of_member(user_id)
            await members.delete(user_id)


async def _must_leave_an_owner(members: Members, member: MemberRow) -> None:
    if member.role == Role.owner and not await members.has_other_owner(member.user_id):
        raise LastOwner
