"""Reads and changes settings, each in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from contracts.gateway import Role
from contracts.workspace_settings import RoleModel, SettingScope, SettingSource, SettingState
from orchestrator.configuration.chosen import ChosenSettings, ProviderAddress, chosen
from orchestrator.configuration.repository import (
    ConfigurationSql,
    SealedOtherwise,
    StoredSetting,
    WorkspaceConfiguration,
)
from orchestrator.configuration.schema import (
    DEFINITIONS,
    OPERATOR,
    SettingDefinition,
    address_key,
    defined,
    provider_of,
    secret_key,
)
from orchestrator.configuration.sealing import Sealed, SecretPlace, SecretSeal
from orchestrator.errors import NoSettingsKey, ProviderInUse, ProviderUnusable, SettingInvalid, TooManyProviders
from service_kit.auth import Principal
from service_kit.postgres import Database
from service_kit.problems import Forbidden
from service_kit.repository import SystemRepository
from service_kit.web_address import AddressRefused, AllowedAddresses

MOST_PROVIDERS = 20


class RoleListing(Protocol):
    """Asks providers for their models."""

    async def check(self, models: Sequence[RoleModel], providers: Mapping[str, ProviderAddress]) -> None:
        """Raises ModelNotListed, which names what is missing, and ProviderUnusable."""
        ...


@dataclass(frozen=True)
class ConfigurationStore:
    """Reads and stores settings; no secrets without a `seal`. `allowed` are the addresses that providers may have."""

    database: Database
    seal: SecretSeal | None
    allowed: AllowedAddresses
    listing: RoleListing

    async def states(self, caller: Principal, scope: SettingScope, category: str | None) -> list[SettingState]:
        """Returns the settings in effect for the caller, or for the workspace, without the values of secrets."""
        user_id = caller.user_id if scope is SettingScope.user else None
        stored = {one.key: one for one in await self._stored(caller.workspace_id, user_id)}
        keys = sorted({*stored, *(one.key for one in DEFINITIONS if not one.is_family)})
        states = [_state(key, stored.get(key)) for key in keys]
        return [one for one in states if category in (None, one.category)]

    async def put(self, caller: Principal, scope: SettingScope, key: str, given: Any) -> SettingState:
        """Stores a setting. Raises UnknownSetting, SettingInvalid, Forbidden, and others for roles and providers."""
        definition = self._may_change(caller, scope, key)
        value = definition.parse(given)
        secret = self._sealed(caller.workspace_id, key, value) if definition.is_secret else None
        if key.startswith("roles."):
            await self.check_models(caller.workspace_id, [RoleModel.model_validate(one) for one in value])
        name = provider_of(key)
        if name is not None and key == address_key(name):
            self._check_address(value)
        async with self.database.workspace(caller.workspace_id) as connection:
            settings = WorkspaceConfiguration(connection, caller.workspace_id)
            await settings.lock()
            known = {one.key: one for one in await settings.of(None)}
            if name is not None:
                _check_provider(name, key, known)
                if key == address_key(name) and key in known and known[key].value != value:
                    # The key belongs to the previous address.
                    await settings.delete(None, secret_key(name))
            elif key.startswith("roles."):
                _check_providers_exist(value, known)
            user_id = caller.user_id if scope is SettingScope.user else None
            await settings.put(user_id, key, value, secret, caller.user_id)
            stored = {one.key: one for one in await settings.of(user_id)}
        return _state(key, stored[key])

    async def delete(self, caller: Principal, scope: SettingScope, key: str) -> None:
        """Resets a setting to its default. Deletes a provider's key with its address. Raises ProviderInUse."""
        self._may_change(caller, scope, key)
        async with self.database.workspace(caller.workspace_id) as connection:
            settings = WorkspaceConfiguration(connection, caller.workspace_id)
            await settings.lock()
            name = provider_of(key)
            if name is not None and key == address_key(name):
                held = chosen(caller.workspace_id, await settings.of(None), self.seal)
                if any(one.provider == name for models in held.roles.values() for one in models):
                    raise ProviderInUse
                await settings.delete(None, secret_key(name))
            await settings.delete(caller.user_id if scope is SettingScope.user else None, key)

    async def chosen(self, workspace_id: UUID, user_id: UUID | None) -> ChosenSettings:
        """Returns the settings for a run of the user."""
        return self.chosen_of(workspace_id, await self._stored(workspace_id, user_id))

    async def check_models(self, workspace_id: UUID, models: Sequence[RoleModel]) -> None:
        """Asks the providers whether they have these models. Raises ModelNotListed, ProviderUnusable."""
        if models:
            await self.listing.check(models, (await self.chosen(workspace_id, None)).providers)

    def chosen_of(self, workspace_id: UUID, stored: Sequence[StoredSetting]) -> ChosenSettings:
        """Returns the settings for a run from those stored for it."""
        return chosen(workspace_id, stored, self.seal)

    async def _stored(self, workspace_id: UUID, user_id: UUID | None) -> list[StoredSetting]:
        async with self.database.workspace(workspace_id) as connection:
            return await WorkspaceConfiguration(connection, workspace_id).of(user_id)

    def _may_change(self, caller: Principal, scope: SettingScope, key: str) -> SettingDefinition:
        definition = defined(key, scope)
        if scope is SettingScope.workspace and caller.role is not Role.owner:
            raise Forbidden("Only owners may change the settings of a workspace")
        return definition

    def _sealed(self, workspace_id: UUID, key: str, secret: str) -> Sealed:
        if self.seal is None:
            raise NoSettingsKey
        return self.seal.seal(secret, SecretPlace(workspace_id, key))

    def _check_address(self, url: str) -> None:
        try:
            self.allowed.check_url(url)
        except AddressRefused as refused:
            advice = "the operator can allow it with PROVIDER_ALLOWED_NETWORKS"
            raise SettingInvalid(f"{str(refused).rstrip('.')}; {advice}") from None


async def rotate(database: Database, seal: SecretSeal) -> int:
    """Seals all secrets with the first key; returns how many it resealed. Changes nothing if it raises SealBroken."""
    async with database.system() as connection:
        every = SystemRepository(connection)
        found = await every.all(ConfigurationSql.sealed_otherwise, SealedOtherwise, key_id=seal.key_id)
        for one in found:
            place = SecretPlace(one.workspace_id, one.key)
            resealed = seal.seal(seal.open(Sealed(one.key_id, bytes(one.sealed)), place), place)
            await every.run(
                ConfigurationSql.reseal,
                of_workspace=one.workspace_id,
                key=one.key,
                sealed=resealed.content,
                key_id=resealed.key_id,
            )
        return len(found)


def _state(key: str, stored: StoredSetting | None) -> SettingState:
    definition = next(one for one in DEFINITIONS if one.covers(key))
    source = SettingSource.default
    if stored is not None:
        source = SettingSource.workspace if stored.user_id is None else SettingSource.user
    return SettingState(
        key=key,
        category=definition.category,
        value=stored.value if stored else None,
        is_secret=definition.is_secret,
        is_set=stored is not None,
        source=source,
        updated_at=stored.updated_at if stored else None,
    )


def _check_provider(name: str, key: str, known: Mapping[str, StoredSetting]) -> None:
    """Checks that a key belongs to a known address. Raises ProviderUnusable, TooManyProviders."""
    if key == secret_key(name):
        if address_key(name) not in known:
            raise ProviderUnusable(f"{name}: set {address_key(name)} first")
        return
    names = {provider for one in known if (provider := provider_of(one)) is not None}
    if len(names | {name}) > MOST_PROVIDERS:
        raise TooManyProviders(f"at most {MOST_PROVIDERS}")


def _check_providers_exist(value: Sequence[Mapping[str, str]], known: Mapping[str, StoredSetting]) -> None:
    """Raises ProviderUnusable if a provider was deleted while it was asked for its models."""
    for one in value:
        if one["provider"] != OPERATOR and address_key(one["provider"]) not in known:
            raise ProviderUnusable(f"{one['provider']}: the workspace has no such provider")
