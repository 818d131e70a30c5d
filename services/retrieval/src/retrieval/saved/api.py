"""Routes of saved searches: parse, call, return."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response

from contracts.base import Page, ProblemBody
from contracts.retrieval import SavedSearch, SavedSearchCreate, SavedSearchUpdate, SearchResponse
from retrieval.saved.store import SavedSearches
from retrieval.search.api import InUse
from service_kit.auth import Editor, Viewer
from service_kit.pagination import Cursor, Limit
from service_kit.request_headers import ExpectedVersion, IdempotencyKey

router = APIRouter(prefix="/v1/saved-searches", tags=["retrieval"])
MISSING: dict[int | str, dict[str, Any]] = {404: {"model": ProblemBody, "description": "No such saved search"}}
TAKEN: dict[int | str, dict[str, Any]] = {
    409: {"model": ProblemBody, "description": "Another saved search has this name"}
}
STALE: dict[int | str, dict[str, Any]] = {
    412: {"model": ProblemBody, "description": "If-Match names another version than the current one"}
}


def saved_searches(request: Request) -> SavedSearches:
    found: SavedSearches = request.app.state.saved_searches
    return found


Saved = Annotated[SavedSearches, Depends(saved_searches)]


@router.post("", status_code=201, summary="Save a search", responses=TAKEN)
async def create_saved_search(
    body: SavedSearchCreate, caller: Editor, saved: Saved, key: IdempotencyKey, response: Response
) -> SavedSearch:
    """Everyone in the workspace sees it and may run it. Names are unique, in either case.

    What the request leaves out follows the defaults at the time when it is run. The same `Idempotency-Key` gives the
    same saved search.
    """
    created = await saved.create(caller, body, key)
    response.headers["Location"] = f"/v1/saved-searches/{created.id}"
    return _tagged(created, response)


@router.get("", summary="List the saved searches")
async def list_saved_searches(
    caller: Viewer, saved: Saved, limit: Limit = 50, cursor: Cursor = None
) -> Page[SavedSearch]:
    """Newest first."""
    return await saved.page(caller.workspace_id, limit, cursor)


@router.get("/{saved_id}", summary="Read a saved search", responses=MISSING)
async def get_saved_search(saved_id: UUID, caller: Viewer, saved: Saved, response: Response) -> SavedSearch:
    """The header `ETag` is the version, for If-Match."""
    return _tagged(await saved.get(caller.workspace_id, saved_id), response)


@router.patch("/{saved_id}", summary="Change a saved search", responses={**MISSING, **TAKEN, **STALE})
async def change_saved_search(
    saved_id: UUID,
    body: SavedSearchUpdate,
    caller: Editor,
    saved: Saved,
    version: ExpectedVersion,
    response: Response,
) -> SavedSearch:
    """A request replaces the former one as a whole. With If-Match only if the saved search still has that version."""
    return _tagged(await saved.change(caller.workspace_id, saved_id, body, version), response)


@router.delete("/{saved_id}", status_code=204, summary="Delete a saved search", responses={**MISSING, **STALE})
async def delete_saved_search(saved_id: UUID, caller: Editor, saved: Saved, version: ExpectedVersion) -> None:
    await saved.delete(caller.workspace_id, saved_id, version)


@router.post("/{saved_id}/run", summary="Run a saved search", responses={**MISSING, 503: {"model": ProblemBody}})
async def run_saved_search(
    saved_id: UUID,
    caller: Viewer,
    saved: Saved,
    using: InUse,
    k: Annotated[int | None, Query(ge=1, le=100, description="Hits, in place of the saved number")] = None,
) -> SearchResponse:
    """Now, and in the name of the caller: what is found is what the caller may read."""
    request = (await saved.get(caller.workspace_id, saved_id)).request
    return await using(caller, request.model_copy(update={"k": k}) if k else request)


def _tagged(saved: SavedSearch, response: Response) -> SavedSearch:
    response.headers["ETag"] = f'"{saved.version}"'
    return saved
