"""The presets of a workspace and its users."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from contracts.gateway import Role
from contracts.workspace_settings import Preset, PresetPut, SettingScope
from orchestrator.configuration.store import ConfigurationStore
from orchestrator.errors import PresetNotFound, TooManyPresets
from service_kit.auth import Principal
from service_kit.problems import Forbidden
from service_kit.repository import CallerRepository
from service_kit.statements import Statements

MOST_PRESETS = 100


class PresetSql(Statements, file="presets.sql"):
    all: str
    find: str
    lock: str
    count: str
    put: str
    delete: str


@dataclass(frozen=True)
class StoredPreset:
    """A stored preset; without a `user_id` it is the workspace's."""

    user_id: UUID | None
    name: str
    content: dict[str, Any]
    updated_at: datetime

    def shown(self) -> Preset:
        scope = SettingScope.workspace if self.user_id is None else SettingScope.user
        content = PresetPut.model_validate(self.content)
        return Preset(name=self.name, scope=scope, updated_at=self.updated_at, **dict(content))


class CallerPresets(CallerRepository):
    """The presets that a caller can name: the caller's own, and the workspace's."""


@dataclass(frozen=True)
class PresetStore:
    """Reads and changes presets, each in one transaction."""

    configuration: ConfigurationStore

    async def all(self, caller: Principal) -> list[Preset]:
        """Returns the presets by name, a user's own before the workspace's of the same name."""
        async with self.configuration.database.workspace(caller.workspace_id) as connection:
            stored = await CallerPresets(connection, caller).all(PresetSql.all, StoredPreset)
        return [one.shown() for one in stored]

    async def find(self, caller: Principal, name: str) -> Preset:
        """Returns the caller's own preset, otherwise the workspace's. Raises PresetNotFound."""
        async with self.configuration.database.workspace(caller.workspace_id) as connection:
            stored = await CallerPresets(connection, caller).one(PresetSql.find, StoredPreset, name=name)
        if stored is None:
            raise PresetNotFound
        return stored.shown()

    async def put(self, caller: Principal, scope: SettingScope, name: str, preset: PresetPut) -> Preset:
        """Stores the preset. Raises Forbidden, TooManyPresets; ModelNotListed and ProviderUnusable as for a setting."""
        owner_id = _owner(caller, scope)
        models = [model for models in preset.roles.values() for model in models]
        await self.configuration.check_models(caller.workspace_id, models)
        async with self.configuration.database.workspace(caller.workspace_id) as connection:
            presets = CallerPresets(connection, caller)
            await presets.run(PresetSql.lock)
            if await presets.value(PresetSql.count, owner_id=owner_id, name=name) >= MOST_PRESETS:
                raise TooManyPresets(f"at most {MOST_PRESETS}")
            stored = await presets.one(
                PresetSql.put,
                StoredPreset,
                owner_id=owner_id,
                name=name,
                content=Jsonb(preset.model_dump(mode="json")),
                updated_by=caller.user_id,
            )
        assert stored is not None
        return stored.shown()

    async def delete(self, caller: Principal, scope: SettingScope, name: str) -> None:
        """Raises Forbidden, PresetNotFound."""
        async with self.configuration.database.workspace(caller.workspace_id) as connection:
            presets = CallerPresets(connection, caller)
            if not await presets.run(PresetSql.delete, owner_id=_owner(caller, scope), name=name):
                raise PresetNotFound


def _owner(caller: Principal, scope: SettingScope) -> UUID | None:
    if scope is SettingScope.user:
        return caller.user_id
    if caller.role is not Role.owner:
        raise Forbidden("Only owners may change the presets of a workspace")
    return None
