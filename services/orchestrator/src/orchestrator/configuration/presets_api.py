"""Routes of presets."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Query

from contracts.base import ProblemBody
from contracts.workspace_settings import Preset, PresetName, PresetPut, Presets, SettingScope
from orchestrator.configuration.presets import PresetStore
from service_kit.auth import Viewer
from service_kit.routes import Responses, from_state

router = APIRouter(prefix="/v1/presets", tags=["orchestrator"])
NOT_FOUND: Responses = {404: {"model": ProblemBody, "description": "There is no such preset"}}
FORBIDDEN: Responses = {403: {"model": ProblemBody, "description": "Only owners may change the presets of a workspace"}}
STORED: Responses = {
    **FORBIDDEN,
    404: {"model": ProblemBody, "description": "No preset can have this name: it is not valid in a URL"},
    409: {"model": ProblemBody, "description": "The maximum number of presets is reached"},
    422: {"model": ProblemBody, "description": "The preset is not valid, or a provider does not list a model"},
}


UsedPresets = Annotated[PresetStore, from_state("presets")]
Named = Annotated[PresetName, Path()]
Scope = Annotated[SettingScope, Query(description="Whose preset: the caller's own, or the workspace's")]


@router.get("", summary="List presets")
async def list_presets(caller: Viewer, using: UsedPresets) -> Presets:
    """Lists the caller's own and the workspace's, by name. One page; at most 100 of each."""
    return Presets(items=await using.all(caller))


@router.get("/{preset_name}", summary="Read a preset", responses=NOT_FOUND)
async def get_preset(preset_name: Named, caller: Viewer, using: UsedPresets) -> Preset:
    """Returns the caller's own, or else the workspace's: the one that the model `attractor/NAME` refers to."""
    return await using.find(caller, preset_name)


@router.put("/{preset_name}", summary="Create or replace a preset", responses=STORED)
async def put_preset(
    preset_name: Named, body: PresetPut, caller: Viewer, using: UsedPresets, scope: Scope = SettingScope.user
) -> Preset:
    """Everyone can write presets of their own, owners also the workspace's.

    Clients of the OpenAI API use it as the model `attractor/NAME`.
    """
    return await using.put(caller, scope, preset_name, body)


@router.delete(
    "/{preset_name}",
    summary="Delete a preset",
    status_code=HTTPStatus.NO_CONTENT,
    responses={**NOT_FOUND, **FORBIDDEN},
)
async def delete_preset(
    preset_name: Named, caller: Viewer, using: UsedPresets, scope: Scope = SettingScope.user
) -> None:
    """Answers given with it stay."""
    await using.delete(caller, scope, preset_name)
