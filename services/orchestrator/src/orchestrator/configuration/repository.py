"""The settings of a workspace and its users."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from orchestrator.configuration.sealing import Sealed
from service_kit.repository import Repository
from service_kit.statements import Statements


class ConfigurationSql(Statements, file="configuration.sql"):
    all: str
    lock: str
    put: str
    delete: str
    sealed_otherwise: str
    reseal: str
    with_roles: str


@dataclass(frozen=True)
class StoredSetting:
    """A stored value; without a `user_id` it is the workspace's. A secret has `sealed` and no value."""

    user_id: UUID | None
    key: str
    value: Any
    sealed: bytes | None
    key_id: str | None
    updated_at: datetime

    @property
    def secret(self) -> Sealed | None:
        return None if self.sealed is None or self.key_id is None else Sealed(self.key_id, bytes(self.sealed))


@dataclass(frozen=True)
class SealedOtherwise:
    """A secret that is sealed with a key other than the first."""

    workspace_id: UUID
    key: str
    sealed: bytes
    key_id: str


class WorkspaceConfiguration(Repository):
    """The settings of a workspace and its users."""

    async def of(self, user_id: UUID | None) -> list[StoredSetting]:
        """Returns the settings of the workspace and the user, ordered by key, the user's last."""
        return await self.all(ConfigurationSql.all, StoredSetting, user_id=user_id)

    async def lock(self) -> None:
        await self.run(ConfigurationSql.lock)

    async def put(self, user_id: UUID | None, key: str, value: Any, secret: Sealed | None, by: UUID) -> None:
        await self.run(
            ConfigurationSql.put,
            user_id=user_id,
            key=key,
            value=None if secret else Jsonb(value),
            sealed=secret and secret.content,
            key_id=secret and secret.key_id,
            updated_by=by,
        )

    async def delete(self, user_id: UUID | None, key: str) -> bool:
        """Deletes the setting; returns whether it was set."""
        return bool(await self.run(ConfigurationSql.delete, user_id=user_id, key=key))
