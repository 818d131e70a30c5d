"""The routes that start, show and cancel synchronisations."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query

from contracts.base import Page, ProblemBody
from contracts.sources import Sync, SyncChange, SyncStatus, SyncTrigger
from ingestion.api.parts import DOCUMENT_CHANNEL, UsedParts
from ingestion.api.sources import MISSING
from ingestion.sources.errors import SyncEnded
from ingestion.sources.sources import Sources
from ingestion.sources.syncs import Syncs
from service_kit.auth import Editor, Viewer
from service_kit.pagination import Cursor, Limit, decode_cursor, page
from service_kit.problems import BadCursor
from service_kit.routes import Responses
from service_kit.waiting import until

router = APIRouter(prefix="/v1/sources/{source_id}", tags=["ingestion"])
OPEN = (SyncStatus.queued, SyncStatus.running)
LARGEST_POSITION = 2**31 - 1
ENDED: Responses = {409: {"model": ProblemBody, "description": "It has already ended"}}


@router.post("/sync", status_code=202, summary="Synchronise a source", response_model=Sync, responses=MISSING)
async def start_sync(
    source_id: UUID,
    caller: Editor,
    here: UsedParts,
    dry_run: Annotated[bool, Query(description="Only list what would change")] = False,
) -> Sync:
    """Queues a synchronisation, or returns the one already queued. Works for a paused source, too."""
    async with here.catalogs.database.workspace(caller.workspace_id) as connection:
        await Sources(connection, caller.workspace_id).find(source_id)
        syncs = Syncs(connection, caller.workspace_id)
        row = await syncs.queue(source_id, SyncTrigger.request, dry_run=dry_run)
    return row.resource()


@router.get("/syncs", summary="List the synchronisations of a source", response_model=Page[Sync], responses=MISSING)
async def list_syncs(
    source_id: UUID, caller: Viewer, here: UsedParts, limit: Limit = 50, cursor: Cursor = None
) -> Page[Sync]:
    """Returns synchronisations newest first; the last twenty are kept."""
    async with here.catalogs.database.workspace(caller.workspace_id) as connection:
        await Sources(connection, caller.workspace_id).find(source_id)
        rows = await Syncs(connection, caller.workspace_id).page(source_id, decode_cursor(cursor), limit + 1)
    return page(rows, limit, lambda row: (row.created_at, row.id), lambda row: row.resource())


@router.get("/syncs/{sync_id}", summary="Get a synchronisation, or wait for it", response_model=Sync, responses=MISSING)
async def get_sync(
    source_id: UUID,
    sync_id: UUID,
    caller: Viewer,
    here: UsedParts,
    wait: Annotated[Literal["finished"] | None, Query(description="Wait until it has ended")] = None,
    timeout: Annotated[float, Query(ge=0, le=300, description="Maximum seconds to wait")] = 30,
) -> Sync:
    """Returns its progress, or how it ended."""

    async def read() -> Sync:
        async with here.catalogs.database.workspace(caller.workspace_id) as connection:
            return (await Syncs(connection, caller.workspace_id).find(source_id, sync_id)).resource()

    return await until(here.notifications, DOCUMENT_CHANNEL, sync_id, read, _has_ended, timeout if wait else 0)


@router.get(
    "/syncs/{sync_id}/changes",
    summary="List what a synchronisation did",
    response_model=Page[SyncChange],
    responses=MISSING,
)
async def list_changes(
    source_id: UUID, sync_id: UUID, caller: Viewer, here: UsedParts, limit: Limit = 50, cursor: Cursor = None
) -> Page[SyncChange]:
    """Returns the changes by file, in the order they were made; for a dry run, the changes that would be made."""
    after = _position(cursor)
    async with here.catalogs.database.workspace(caller.workspace_id) as connection:
        syncs = Syncs(connection, caller.workspace_id)
        await syncs.find(source_id, sync_id)
        rows = await syncs.changes(sync_id, after, limit + 1)
    more = str(rows[limit - 1].position) if len(rows) > limit else None
    return Page(items=[row.resource() for row in rows[:limit]], next_cursor=more)


@router.post(
    "/syncs/{sync_id}/cancel",
    summary="Cancel a synchronisation",
    response_model=Sync,
    responses={**MISSING, **ENDED},
)
async def cancel_sync(source_id: UUID, sync_id: UUID, caller: Editor, here: UsedParts) -> Sync:
    """Stops it shortly; changes made so far are kept."""
    async with here.catalogs.database.workspace(caller.workspace_id) as connection:
        syncs = Syncs(connection, caller.workspace_id)
        await syncs.cancel(source_id, sync_id)
        row = await syncs.find(source_id, sync_id)
    if row.status != SyncStatus.cancelled:
        raise SyncEnded(f"it has {row.status}")
    return row.resource()


def _has_ended(sync: Sync) -> bool:
    return sync.status not in OPEN


def _position(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdigit()) or int(cursor) > LARGEST_POSITION:
        raise BadCursor
    return int(cursor)
