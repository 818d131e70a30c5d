"""Routes of the search settings: parse, call, return."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Response

from contracts.base import ProblemBody
from contracts.retrieval import SearchSettings, SearchSettingsUpdate
from retrieval.tuning.store import SearchSettingsStore
from service_kit.auth import Owner, Viewer
from service_kit.request_headers import ExpectedVersion, tagged
from service_kit.routes import from_state

router = APIRouter(prefix="/v1/search-settings", tags=["retrieval"])
STALE: dict[int | str, dict[str, Any]] = {
    412: {"model": ProblemBody, "description": "If-Match names another version than the current one"}
}
UsedSettings = Annotated[SearchSettingsStore, from_state("search_settings")]


@router.get("", summary="Read the workspace's search settings")
async def get_search_settings(caller: Viewer, settings: UsedSettings, response: Response) -> SearchSettings:
    """Reads the settings, defaults included. The header `ETag` is the version, for If-Match."""
    return tagged(await settings.get(caller.workspace_id), response)


@router.patch("", summary="Change the workspace's search settings", responses=STALE)
async def change_search_settings(
    body: SearchSettingsUpdate, caller: Owner, settings: UsedSettings, version: ExpectedVersion, response: Response
) -> SearchSettings:
    """Changes the given fields; the others stay. `weights` apply to the active embedding space.

    With If-Match, applies only if the settings still have that version. Takes effect with the next search.
    """
    return tagged(await settings.change(caller.workspace_id, body, version), response)
