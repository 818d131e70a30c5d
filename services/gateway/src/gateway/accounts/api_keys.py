"""Creates, lists and revokes API keys."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID, uuid4

from contracts.base import Page
from contracts.gateway import ApiKey, ApiKeyCreate, ApiKeyCreated, Role, User
from contracts.random_secrets import new_secret
from gateway.accounts import key_format
from gateway.accounts.caller import Authenticated
from gateway.accounts.keys import Keys
from gateway.accounts.members import Members
from gateway.accounts.workspaces import Workspaces
from gateway.errors import (
    BadExpiry,
    IdempotencyKeyReused,
    NeedsOwner,
    NeedsWiderKey,
    RoleAboveMember,
    SecretNotRepeatable,
    UnknownKey,
    UnknownMember,
    UnknownWorkspace,
)
from service_kit.idempotency import creation_id
from service_kit.pagination import decode_cursor, page
from service_kit.postgres import Connection, Database

MOST_LISTED = 10_000  # workspaces of one user


class ApiKeys:
    """Use cases of API keys. A secret is random, and is not known here after it has been returned."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def create(
        self, caller: Authenticated, workspace_id: UUID, body: ApiKeyCreate, idempotency_key: str | None
    ) -> ApiKeyCreated:
        """Creates a key in the caller's name, and returns its secret, only this once.

        Raises SecretNotRepeatable if the Idempotency-Key has created the key before, IdempotencyKeyReused if it created
        a different one, and OwnNameOnly, RoleAboveMember, NeedsWiderKey, LongerThanItsKey or BadExpiry if the caller
        may not have such a key.
        """
        caller.must_see(workspace_id)
        caller.must_be(body.user_id or caller.user.id)
        key_id = creation_id(caller.credential_id, idempotency_key, f"key/{workspace_id}/")
        key = key_format.ApiKeyText(key_id, new_secret())
        user_id = caller.user.id
        async with self.database.system() as connection:  # also checks the other workspaces that the key may read
            await self._check(connection, caller, workspace_id, body)
            keys = Keys(connection, workspace_id)
            made = await keys.insert(key, user_id, body)
            if made is None:
                made = await keys.find(key_id)
                if made is None or not _is_same(made, user_id, body, keys.further(body)):
                    raise IdempotencyKeyReused
                raise SecretNotRepeatable(f"revoke the key {key_id} and create another", key_id=str(key_id))
        return ApiKeyCreated(**made.model_dump(), key=key_format.render(key_id, key.secret))

    async def first(
        self, connection: Connection, caller: Authenticated | None, user: User, workspace_id: UUID, terms: ApiKeyCreate
    ) -> ApiKeyCreated:
        """Creates the key of a user who has just joined the workspace.

        Raises NeedsWiderKey if it could read a workspace that the caller's key cannot; without a caller, any other one.
        """
        reached = await _reached(connection, caller) if caller else frozenset()
        if not {workspace_id, *reached}.issuperset(terms.workspaces):
            raise NeedsWiderKey
        key = key_format.ApiKeyText(uuid4(), new_secret())
        made = await Keys(connection, workspace_id).insert(key, user.id, terms)
        assert made is not None, "a new random id is free"
        return ApiKeyCreated(**made.model_dump(), key=key_format.render(key.id, key.secret))

    async def _check(
        self, connection: Connection, caller: Authenticated, workspace_id: UUID, body: ApiKeyCreate
    ) -> None:
        if not await Workspaces(connection).lock(workspace_id):
            raise UnknownWorkspace
        member = await Members(connection, workspace_id).find(caller.user.id)
        if member is None:
            raise UnknownMember
        highest = min(Role(member.role), caller.role, key=lambda role: role.rank)
        if body.role.rank > highest.rank:
            raise RoleAboveMember(f"the presented key is {highest} here")
        if body.expires_at is not None and body.expires_at <= datetime.now(UTC):
            raise BadExpiry
        caller.may_outlive(body.expires_at)
        if body.all_workspaces:
            caller.may_open_all()
        if body.workspaces and not (await _reached(connection, caller)).issuperset(body.workspaces):
            raise NeedsWiderKey

    async def page(self, caller: Authenticated, workspace_id: UUID, limit: int, cursor: str | None) -> Page[ApiKey]:
        """Lists the workspace's keys, including revoked ones: all of them for owners, their own for others."""
        caller.must_see(workspace_id)
        only = None if caller.role is Role.owner else caller.user.id
        async with self.database.workspace(workspace_id) as connection:
            if await Workspaces(connection).find(workspace_id) is None:
                raise UnknownWorkspace
            rows = await Keys(connection, workspace_id).list(only, *decode_cursor(cursor), limit + 1)
        return page(rows, limit, lambda key: (key.created_at, key.id), lambda key: _as_seen(caller, key))

    async def revoke(self, caller: Authenticated, workspace_id: UUID, key_id: UUID) -> None:
        """Revokes a key at once in every replica, as each request looks its key up. Revoking twice is no error.

        Owners revoke any key of the workspace; others their own, up to the role of the presented one.
        """
        caller.must_see(workspace_id)
        async with self.database.workspace(workspace_id) as connection:
            keys = Keys(connection, workspace_id)
            key = await keys.find_state(key_id)
            is_own = key is not None and key.user_id == caller.user.id
            if key is None or not (is_own or caller.role is Role.owner):
                raise UnknownKey
            if Role(key.role).rank > caller.role.rank:
                raise NeedsOwner("the key has a higher role than yours")
            if not is_own:
                caller.may_act_on(key.is_admin)
            await keys.revoke(key_id)


async def _reached(connection: Connection, caller: Authenticated) -> frozenset[UUID]:
    """Returns the workspaces that the caller's key can read; an administrator's can read all of the user's."""
    everything = caller.is_admin or caller.all_workspaces
    only = None if everything else (caller.workspace.id, *caller.workspaces)
    return frozenset(await Workspaces(connection).ids_of_user(caller.user.id, MOST_LISTED, only))


def _as_seen(caller: Authenticated, key: ApiKey) -> ApiKey:
    """Returns the key without its user's other workspaces, which the owners of this one must not see."""
    if caller.is_admin or key.user_id == caller.user.id:
        return key
    return key.model_copy(update={"workspaces": [key.workspace_id]})


def _is_same(made: ApiKey, user_id: UUID, body: ApiKeyCreate, further: list[UUID]) -> bool:
    columns = (body.name, user_id, body.role, body.all_workspaces, further, body.expires_at)
    return (made.name, made.user_id, made.role, made.all_workspaces, made.workspaces[1:], made.expires_at) == columns
