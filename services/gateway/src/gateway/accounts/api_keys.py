"""Creating, listing and revoking API keys."""

from __future__ import annotations

from uuid import UUID

from contracts.base import Page
from contracts.gateway import ApiKey, ApiKeyCreate, ApiKeyCreated, Role
from gateway.accounts import key_format
from gateway.accounts.caller import Authenticated
from gateway.accounts.keys import Keys
from gateway.accounts.members import Members
from gateway.accounts.workspaces import Workspaces
from gateway.errors import (
    IdempotencyKeyReused,
    RoleAboveMember,
    SecretNotRepeatable,
    UnknownKey,
    UnknownMember,
    UnknownWorkspace,
)
from service_kit.idempotency import creation_id
from service_kit.pagination import decode_cursor, page
from service_kit.postgres import Connection, Database


class ApiKeys:
    """Use cases of API keys. A secret is random, and known to nobody once it has been returned."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def create(
        self, caller: Authenticated, workspace_id: UUID, body: ApiKeyCreate, idempotency_key: str | None
    ) -> ApiKeyCreated:
        """Creates a key, and returns its secret, only now.

        Raises SecretNotRepeatable if the Idempotency-Key has created the key before, and IdempotencyKeyReused if it
        created a different one.
        """
        caller.must_own(workspace_id)
        key_id = creation_id(caller.key_id, idempotency_key, f"key/{workspace_id}/")
        key = key_format.ApiKeyText(key_id, key_format.new_secret())
        user_id = body.user_id or caller.user.id
        async with self.database.workspace(workspace_id) as connection:
            await self._check(connection, caller, workspace_id, user_id, body)
            keys = Keys(connection, workspace_id)
            made = await keys.insert(key, user_id, body)
            if made is None:
                made = await keys.find(key_id)
                if made is None or not _is_same(made, user_id, body):
                    raise IdempotencyKeyReused
                raise SecretNotRepeatable(f"revoke the key {key_id} and create another", key_id=str(key_id))
        return ApiKeyCreated(**made.model_dump(), key=key_format.render(key_id, key.secret))

    async def _check(
        self, connection: Connection, caller: Authenticated, workspace_id: UUID, user_id: UUID, body: ApiKeyCreate
    ) -> None:
        if not await Workspaces(connection).lock(workspace_id):
            raise UnknownWorkspace
        member = await Members(connection, workspace_id).find(user_id)
        if member is None:
            raise UnknownMember
        caller.may_act_on(member.is_admin)
        if body.all_workspaces:
            caller.may_open_all(user_id)
        if body.role.rank > Role(member.role).rank:
            raise RoleAboveMember(f"the user is {member.role} here")

    async def page(self, caller: Authenticated, workspace_id: UUID, limit: int, cursor: str | None) -> Page[ApiKey]:
        """Lists the workspace's keys, revoked ones included."""
        caller.must_own(workspace_id)
        async with self.database.workspace(workspace_id) as connection:
            if await Workspaces(connection).find(workspace_id) is None:
                raise UnknownWorkspace
            rows = await Keys(connection, workspace_id).list(*decode_cursor(cursor), limit + 1)
        return page(rows, limit, lambda key: (key.created_at, key.id))

    async def revoke(self, caller: Authenticated, workspace_id: UUID, key_id: UUID) -> None:
        """Ends a key at once, in every replica: keys are looked up at each request. Revoking twice is no error."""
        caller.must_own(workspace_id)
        async with self.database.workspace(workspace_id) as connection:
            keys = Keys(connection, workspace_id)
            key = await keys.find_state(key_id)
            if key is None:
                raise UnknownKey
            caller.may_act_on(key.is_admin)
            await keys.revoke(key_id)


def _is_same(made: ApiKey, user_id: UUID, body: ApiKeyCreate) -> bool:
    asked = (body.name, user_id, body.role, body.all_workspaces)
    return (made.name, made.user_id, made.role, made.all_workspaces) == asked
