"""Settings and presets of users and workspaces, and the models that clients of the OpenAI API can use."""

from __future__ import annotations

from typing import Any

from attractor_client.http.transport import Transport, path
from contracts.openai_api import ModelList
from contracts.workspace_settings import (
    Preset,
    PresetPut,
    Presets,
    SettingList,
    SettingPut,
    SettingScope,
    SettingState,
    SettingStates,
)


class WorkspaceSettings:
    """`client.settings`: users change their own settings, owners the workspace's."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def schema(self) -> SettingList:
        """Returns the available settings."""
        return await self.transport.get("/v1/settings/schema", SettingList)

    async def all(self, scope: SettingScope = SettingScope.user, category: str | None = None) -> SettingStates:
        """Returns the settings in effect for the caller or the workspace, without the values of secrets."""
        return await self.transport.get("/v1/settings", SettingStates, {"scope": scope.value, "category": category})

    async def put(self, key: str, value: Any, scope: SettingScope = SettingScope.user) -> SettingState:
        return await self.transport.fetch(
            "PUT", path("v1/settings", key), SettingState, body=SettingPut(value=value), params={"scope": scope.value}
        )

    async def delete(self, key: str, scope: SettingScope = SettingScope.user) -> None:
        """Resets the setting to its default."""
        await self.transport.send("DELETE", path("v1/settings", key), params={"scope": scope.value})


class AnswerPresets:
    """`client.presets`: how to answer requests for the model `attractor/NAME`."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def all(self) -> Presets:
        return await self.transport.get("/v1/presets", Presets)

    async def get(self, name: str) -> Preset:
        """Returns the caller's own preset with this name, else the workspace's."""
        return await self.transport.get(path("v1/presets", name), Preset)

    async def put(self, name: str, preset: PresetPut, scope: SettingScope = SettingScope.user) -> Preset:
        return await self.transport.fetch(
            "PUT", path("v1/presets", name), Preset, body=preset, params={"scope": scope.value}
        )

    async def delete(self, name: str, scope: SettingScope = SettingScope.user) -> None:
        await self.transport.send("DELETE", path("v1/presets", name), params={"scope": scope.value})


class OpenAIModels:
    """`client.models`: the names that clients of the OpenAI API can use as `model`."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def all(self) -> ModelList:
        return await self.transport.get("/v1/models", ModelList)
