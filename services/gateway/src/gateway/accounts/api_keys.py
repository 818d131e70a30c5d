"""Issuing, listing and revoking API keys."""

from __future__ import annotations

from uuid import UUID

from contracts.base import Page
from contracts.gateway import ApiKey, ApiKeyCreate, ApiKeyCreated, Role
from gateway import keys, store
from gateway.accounts.caller import Authenticated
from gateway.errors import RoleAboveMember, SecretNotRepeatable, UnknownKey, UnknownMember, UnknownWorkspace
from gateway.idempotency import Attempt, once
from gateway.paging import Place, page
from service_kit.postgres import Connection, Database


class ApiKeys:
    """`server_secret` is what the secrets of repeatable creates are derived from."""

    def __init__(self, database: Database, server_secret: str) -> None:
        self.database, self.server_secret = database, server_secret

    async def create(
        self, caller: Authenticated, workspace_id: UUID, body: ApiKeyCreate, idempotency_key: str | None
    ) -> ApiKeyCreated:
        """The only time that the key is told, but for a repetition under the same Idempotency-Key."""
        caller.must_own(workspace_id)
        attempt = Attempt(caller.key_id, idempotency_key, f"workspaces/{workspace_id}/keys", body)
        fresh = keys.new_secret()

        async with self.database.workspace(workspace_id) as connection:

            async def create(new_id: UUID) -> ApiKey:
                return await self._insert(connection, caller, workspace_id, body, self._text(new_id, attempt, fresh))

            made = await once(connection, workspace_id, attempt, ApiKey, create)
            key = self._text(made.id, attempt, fresh)
            stored = await store.find_key(connection, workspace_id, made.id)
        if stored is None or not key.matches(stored.secret_sha256):
            raise SecretNotRepeatable
        return ApiKeyCreated(**made.model_dump(), key=keys.render(made.id, key.secret))

    def _text(self, key_id: UUID, attempt: Attempt, fresh: str) -> keys.ApiKeyText:
        """A secret that may be asked for again is derived instead of stored."""
        return keys.ApiKeyText(
            key_id, fresh if attempt.key is None else keys.derived_secret(self.server_secret, key_id)
        )

    async def _insert(
        self,
        connection: Connection,
        caller: Authenticated,
        workspace_id: UUID,
        body: ApiKeyCreate,
        key: keys.ApiKeyText,
    ) -> ApiKey:
        if not await store.lock_workspace(connection, workspace_id):
            raise UnknownWorkspace
        user_id = body.user_id or caller.user.id
        member = await store.find_member(connection, workspace_id, user_id)
        if member is None:
            raise UnknownMember
        caller.may_act_on(member.is_admin)
        if body.all_workspaces:
            caller.may_open_all(user_id)
        if body.role.rank > Role(member.role).rank:
            raise RoleAboveMember(f"the user is {member.role} here")
        made = await store.insert_key(
            connection,
            key.id,
            (workspace_id, user_id),
            body.name,
            body.role,
            key.secret_sha256,
            all_workspaces=body.all_workspaces,
        )
        assert made is not None, "a new random id is free"
        return made

    async def page(self, caller: Authenticated, workspace_id: UUID, place: Place) -> Page[ApiKey]:
        """Revoked keys are listed too."""
        caller.must_own(workspace_id)
        async with self.database.workspace(workspace_id) as connection:
            if await store.find_workspace(connection, workspace_id) is None:
                raise UnknownWorkspace
            return page(
                await store.list_keys(connection, workspace_id, place), place, lambda key: (key.created_at, key.id)
            )

    async def revoke(self, caller: Authenticated, workspace_id: UUID, key_id: UUID) -> None:
        """At once, in every replica: a key is looked up at each request. Revoking twice is no error."""
        caller.must_own(workspace_id)
        async with self.database.workspace(workspace_id) as connection:
            key = await store.find_key(connection, workspace_id, key_id)
            if key is None:
                raise UnknownKey
            caller.may_act_on(key.is_admin)
            await store.revoke_key(connection, workspace_id, key_id)
