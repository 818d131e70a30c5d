"""Routes of settings."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Query

from contracts.base import ProblemBody
from contracts.workspace_settings import SettingKey, SettingList, SettingPut, SettingScope, SettingState, SettingStates
from orchestrator.configuration.schema import DEFINITIONS
from orchestrator.configuration.store import ConfigurationStore
from service_kit.auth import Viewer
from service_kit.routes import Responses, from_state

router = APIRouter(prefix="/v1/settings", tags=["orchestrator"])
CHANGED: Responses = {
    403: {"model": ProblemBody, "description": "Only owners may change the settings of a workspace"},
    404: {"model": ProblemBody, "description": "There is no such setting in this scope"},
    409: {"model": ProblemBody, "description": "The provider is in use, or there are too many"},
}
STORED: Responses = {
    **CHANGED,
    422: {"model": ProblemBody, "description": "The value is not valid, or a provider does not list a model"},
    503: {"model": ProblemBody, "description": "It is a secret, but the operator has set no SETTINGS_KEY"},
}


UsedConfiguration = Annotated[ConfigurationStore, from_state("configuration")]
Key = Annotated[SettingKey, Path()]
Scope = Annotated[SettingScope, Query(description="Whose setting: the caller's own, or the workspace's")]


@router.get("/schema", summary="List the available settings")
async def list_setting_schemas(caller: Viewer) -> SettingList:  # noqa: ARG001  for authenticated callers only
    """Returns them with their categories, defaults and value schemas."""
    return SettingList(items=[one.as_schema() for one in DEFINITIONS])


@router.get("", summary="Read settings")
async def list_settings(
    caller: Viewer,
    using: UsedConfiguration,
    scope: Scope = SettingScope.user,
    category: Annotated[str | None, Query(min_length=1, max_length=50, description="Only of this category")] = None,
) -> SettingStates:
    """Returns the settings in effect for the caller: their own, or else the workspace's, or else the defaults. One
    page.

    With `scope=workspace` the caller's own are left out. Secrets are never returned.
    """
    return SettingStates(items=await using.states(caller, scope, category))


@router.put("/{setting_key}", summary="Set a setting", responses=STORED)
async def put_setting(
    setting_key: Key, body: SettingPut, caller: Viewer, using: UsedConfiguration, scope: Scope = SettingScope.user
) -> SettingState:
    """Everyone can change their own settings, owners also the workspace's. Takes effect for runs that start afterwards.

    A role's models are looked up in their providers' lists; the problem names one that is missing. A provider's address
    must be public, or allowed by the operator; changing the address deletes its key.
    """
    return await using.put(caller, scope, setting_key, body.value)


@router.delete(
    "/{setting_key}", summary="Reset a setting to its default", status_code=HTTPStatus.NO_CONTENT, responses=CHANGED
)
async def delete_setting(
    setting_key: Key, caller: Viewer, using: UsedConfiguration, scope: Scope = SettingScope.user
) -> None:
    """Deleting a provider's address also deletes its key; a provider named by a role cannot be deleted."""
    await using.delete(caller, scope, setting_key)
