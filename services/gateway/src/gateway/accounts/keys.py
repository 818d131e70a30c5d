"""The table of API keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from contracts.gateway import ApiKey, ApiKeyCreate, Role, User, Workspace
from gateway.accounts.caller import Authenticated
from gateway.accounts.key_format import ApiKeyText
from service_kit.repository import Repository, SystemRepository
from service_kit.statements import Statements

COLUMNS = (
    "id, name, user_id, workspace_id, role, all_workspaces, workspace_id || workspaces AS workspaces, "
    "created_at, expires_at, last_used_at, revoked_at"
)


class KeySql(Statements, file="keys.sql", columns=COLUMNS):
    authenticate: str
    insert: str
    find: str
    find_state: str
    list: str
    revoke: str
    revoke_of_member: str
    mark_used: str
    list_computable: str


@dataclass(frozen=True)
class AuthenticationRow:
    """The fields that authentication reads of a key that is not revoked; it may be expired, and its user disabled."""

    key_id: UUID
    secret_sha256: bytes
    role: str
    all_workspaces: bool
    workspaces: list[UUID]
    expires_at: datetime | None
    is_expired: bool
    user_id: UUID
    user_name: str
    user_email: str | None
    is_admin: bool
    user_created_at: datetime
    user_disabled_at: datetime | None
    workspace_id: UUID
    workspace_name: str
    workspace_created_at: datetime
    key_requests_per_minute: int | None

    def caller(self) -> Authenticated:
        user = User(
            id=self.user_id,
            name=self.user_name,
            email=self.user_email,
            is_admin=self.is_admin,
            created_at=self.user_created_at,
            disabled_at=self.user_disabled_at,
        )
        workspace = Workspace(
            id=self.workspace_id,
            name=self.workspace_name,
            created_at=self.workspace_created_at,
            key_requests_per_minute=self.key_requests_per_minute,
        )
        further = tuple(self.workspaces)
        return Authenticated(
            self.key_id, user, workspace, Role(self.role), self.all_workspaces, further, self.expires_at
        )


@dataclass(frozen=True)
class KeyState:
    """`is_admin`: the key's user is an administrator."""

    user_id: UUID
    role: str
    is_admin: bool


@dataclass(frozen=True)
class ComputableKey:
    """A key that is not revoked and whose secret could be computed from the one that services shared up to 0.1.0."""

    id: UUID
    name: str
    user_id: UUID
    user_name: str
    workspace_id: UUID
    workspace_name: str
    role: str
    created_at: datetime
    last_used_at: datetime | None


class KeysOfAllWorkspaces(SystemRepository):
    async def find(self, key_id: UUID) -> AuthenticationRow | None:
        return await self.one(KeySql.authenticate, AuthenticationRow, id=key_id)

    async def computable(self) -> list[ComputableKey]:
        return await self.all(KeySql.list_computable, ComputableKey)

    async def mark_used(self, uses: Iterable[Mapping[str, object]]) -> None:
        """Records the last use of keys, each given by `workspace_id`, `id` and `at`."""
        await self.many(KeySql.mark_used, uses)


class Keys(Repository):
    async def insert(self, key: ApiKeyText, user_id: UUID, body: ApiKeyCreate) -> ApiKey | None:
        """Returns the new key, or None if one with this id exists."""
        return await self.one(
            KeySql.insert,
            ApiKey,
            id=key.id,
            user_id=user_id,
            name=body.name,
            role=body.role.value,
            secret_sha256=key.secret_sha256,
            all_workspaces=body.all_workspaces,
            workspaces=self.further(body),
            expires_at=body.expires_at,
        )

    def further(self, body: ApiKeyCreate) -> list[UUID]:
        """Returns the distinct workspaces that the key could read besides its own."""
        return [one for one in dict.fromkeys(body.workspaces) if one != self.workspace_id]

    async def find(self, key_id: UUID) -> ApiKey | None:
        return await self.one(KeySql.find, ApiKey, id=key_id)

    async def find_state(self, key_id: UUID) -> KeyState | None:
        return await self.one(KeySql.find_state, KeyState, id=key_id)

    async def list(self, user_id: UUID | None, at: datetime | None, after: UUID | None, limit: int) -> list[ApiKey]:
        """Returns keys of one user or of all, after the given one, oldest first."""
        return await self.all(KeySql.list, ApiKey, user_id=user_id, at=at, after=after, limit=limit)

    async def revoke(self, key_id: UUID) -> None:
        await self.run(KeySql.revoke, id=key_id)

    async def revoke_of_member(self, user_id: UUID) -> None:
        await self.run(KeySql.revoke_of_member, user_id=user_id)
