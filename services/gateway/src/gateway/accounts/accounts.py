"""Users, workspaces and members: what may be done with them, and by whom."""

from __future__ import annotations

from uuid import UUID

from contracts.base import Page
from contracts.gateway import Member, MemberPut, Role, User, UserCreate, Workspace, WorkspaceCreate
from gateway import store
from gateway.accounts.caller import Authenticated
from gateway.errors import LastOwner, UnknownMember, UnknownUser, UnknownWorkspace
from gateway.idempotency import Attempt, once
from gateway.paging import Place, page
from gateway.accounts.store import MemberRow
from service_kit.postgres import Connection, Database


class Accounts:
    """Each method is one transaction and raises a Forbidden or NotFound problem where the caller may not do it."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def create_user(self, caller: Authenticated, body: UserCreate, idempotency_key: str | None) -> User:
        caller.must_be_admin()
        attempt = Attempt(caller.key_id, idempotency_key, "users", body)
        home = caller.workspace.id
        async with self.database.workspace(home) as connection:
            return await once(
                connection, home, attempt, User, lambda new_id: store.insert_user(connection, new_id, body.name)
            )

    async def users(self, caller: Authenticated, place: Place) -> Page[User]:
        caller.must_be_admin()
        async with self.database.workspace(caller.workspace.id) as connection:
            return page(await store.list_users(connection, place), place, lambda user: (user.created_at, user.id))

    async def create_workspace(
        self, caller: Authenticated, body: WorkspaceCreate, idempotency_key: str | None
    ) -> Workspace:
        """Its creator becomes its first owner."""
        caller.must_be_admin()
        attempt = Attempt(caller.key_id, idempotency_key, "workspaces", body)
        async with self.database.system() as connection:  # it writes in two workspaces: the caller's and the new one

            async def create(new_id: UUID) -> Workspace:
                workspace = await store.insert_workspace(connection, new_id, body.name)
                await store.put_member(connection, new_id, caller.user.id, Role.owner)
                return workspace

            return await once(connection, caller.workspace.id, attempt, Workspace, create)

    async def workspaces(self, caller: Authenticated, place: Place) -> Page[Workspace]:
        """An administrator's are all; of others, the one that the key is for."""
        only = None if caller.is_admin else caller.workspace.id
        async with self.database.workspace(caller.workspace.id) as connection:
            rows = await store.list_workspaces(connection, only, place)
        return page(rows, place, lambda workspace: (workspace.created_at, workspace.id))

    async def workspace(self, caller: Authenticated, workspace_id: UUID) -> Workspace:
        caller.must_see(workspace_id)
        async with self.database.workspace(workspace_id) as connection:
            workspace = await store.find_workspace(connection, workspace_id)
        if workspace is None:
            raise UnknownWorkspace
        return workspace

    async def members(self, caller: Authenticated, workspace_id: UUID, place: Place) -> Page[Member]:
        caller.must_own(workspace_id)
        async with self.database.workspace(workspace_id) as connection:
            if await store.find_workspace(connection, workspace_id) is None:
                raise UnknownWorkspace
            rows = await store.list_members(connection, workspace_id, place)
        rows_page = page(rows, place, lambda row: (row.created_at, row.user_id))
        return Page[Member](items=[row.member() for row in rows_page.items], next_cursor=rows_page.next_cursor)

    async def put_member(self, caller: Authenticated, workspace_id: UUID, user_id: UUID, body: MemberPut) -> Member:
        """Adds the user, or changes the role; the member's keys never do more than the new role."""
        caller.must_own(workspace_id)
        async with self.database.workspace(workspace_id) as connection:
            if not await store.lock_workspace(connection, workspace_id):
                raise UnknownWorkspace
            user = await store.find_user(connection, user_id)
            if user is None:
                raise UnknownUser
            caller.may_act_on(user.is_admin)
            present = await store.find_member(connection, workspace_id, user_id)
            if present and body.role is not Role.owner:
                await self._must_leave_an_owner(connection, workspace_id, present)
            await store.put_member(connection, workspace_id, user_id, body.role)
        return Member(user_id=user.id, name=user.name, role=body.role)

    async def remove_member(self, caller: Authenticated, workspace_id: UUID, user_id: UUID) -> None:
        """The user's keys of the workspace are revoked with it."""
        caller.must_own(workspace_id)
        async with self.database.workspace(workspace_id) as connection:
            if not await store.lock_workspace(connection, workspace_id):
                raise UnknownWorkspace
            member = await store.find_member(connection, workspace_id, user_id)
            if member is None:
                raise UnknownMember
            caller.may_act_on(member.is_admin)
            await self._must_leave_an_owner(connection, workspace_id, member)
            await store.remove_member(connection, workspace_id, user_id)

    async def _must_leave_an_owner(self, connection: Connection, workspace_id: UUID, member: MemberRow) -> None:
        if member.role == Role.owner and not await store.has_other_owner(connection, workspace_id, member.user_id):
            raise LastOwner
