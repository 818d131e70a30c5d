"""The routes that manage sources."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response

from contracts.base import Page, ProblemBody
from contracts.sources import Source, SourceCreate, SourceDeletion, SourceUpdate, SyncTrigger
from ingestion.api.parts import DOCUMENT_CHANNEL, UsedParts
from ingestion.documents.errors import ReceiptNotFound
from ingestion.documents.quotas import Quotas
from ingestion.sources import removal
from ingestion.sources.administrator import reach_of
from ingestion.sources.errors import SourceReceiptNotFound
from ingestion.sources.kinds import kind_module
from ingestion.sources.source_update import changed
from ingestion.sources.sources import Sources
from ingestion.sources.syncs import Syncs
from service_kit.auth import Owner, Viewer
from service_kit.idempotency import creation_id
from service_kit.pagination import Cursor, Limit, decode_cursor, page
from service_kit.problems import PreconditionFailed
from service_kit.request_headers import STALE, ExpectedVersion, IdempotencyKey, tagged
from service_kit.routes import Responses
from service_kit.waiting import until

router = APIRouter(prefix="/v1/sources", tags=["ingestion"])
MISSING: Responses = {404: {"model": ProblemBody, "description": "No such source"}}
REFUSED: Responses = {422: {"model": ProblemBody, "description": "The source is not valid; `detail` says why"}}
FULL: Responses = {409: {"model": ProblemBody, "description": "The workspace's quota of sources is used up"}}


@router.post("", status_code=201, summary="Create a source", response_model=Source, responses={**REFUSED, **FULL})
async def create_source(
    body: SourceCreate,
    response: Response,
    caller: Owner,
    here: UsedParts,
    key: IdempotencyKey,
    sync: Annotated[bool, Query(description="Synchronise it immediately")] = True,
) -> Source:
    """Creates a source. Its files are kept in step: additions, changes and removals there are followed here.

    The same `Idempotency-Key` returns the same source.
    """
    async with here.catalogs.database.workspace(caller.workspace_id) as connection:
        reach = await reach_of(connection, caller.workspace_id, here.settings)
    await kind_module(body.config.kind).check(body.config, reach)
    source_id = creation_id(caller.workspace_id, key, f"source/{caller.user_id}/")
    async with here.catalogs.database.workspace(caller.workspace_id) as connection:
        sources = Sources(connection, caller.workspace_id)
        quotas = Quotas(connection, caller.workspace_id)
        bound = await quotas.lock_sources(here.settings.workspace_max_sources)
        row = await sources.insert(source_id, body)
        if row is not None:
            await quotas.require_sources(bound)
        if row is not None and sync:
            await Syncs(connection, caller.workspace_id).queue(row.id, SyncTrigger.created)
        [source] = await sources.resources([row or await sources.find(source_id)])
    response.headers["Location"] = f"/v1/sources/{source.id}"
    return tagged(source, response)


@router.get("", summary="List the sources", response_model=Page[Source])
async def list_sources(caller: Viewer, here: UsedParts, limit: Limit = 50, cursor: Cursor = None) -> Page[Source]:
    """Returns sources newest first."""
    async with here.catalogs.database.workspace(caller.workspace_id) as connection:
        sources = Sources(connection, caller.workspace_id)
        rows = await sources.page(decode_cursor(cursor), limit + 1)
        found = page(rows, limit, lambda row: (row.created_at, row.id))
        items = await sources.resources(found.items)
    return Page(items=items, next_cursor=found.next_cursor)


@router.get("/{source_id}", summary="Get a source", response_model=Source, responses=MISSING)
async def get_source(source_id: UUID, caller: Viewer, here: UsedParts, response: Response) -> Source:
    """Returns the source with its newest synchronisation. The header `ETag` is its version, for If-Match."""
    async with here.catalogs.database.workspace(caller.workspace_id) as connection:
        sources = Sources(connection, caller.workspace_id)
        [source] = await sources.resources([await sources.find(source_id)])
    return tagged(source, response)


@router.patch(
    "/{source_id}",
    summary="Update a source",
    response_model=Source,
    responses={**MISSING, **STALE, **REFUSED},
)
async def update_source(
    source_id: UUID,
    body: SourceUpdate,
    response: Response,
    caller: Owner,
    here: UsedParts,
    version: ExpectedVersion,
) -> Source:
    """Changes the fields that are given; `every_seconds` and `stale_after_seconds` can be null.

    Changed patterns start a synchronisation at once; documents that they no longer match are removed.
    """
    async with here.catalogs.database.workspace(caller.workspace_id) as connection:
        sources = Sources(connection, caller.workspace_id)
        row = await sources.lock(source_id)
        if version is not None and version != row.version:
            raise PreconditionFailed(f"the source has the version {row.version}")
        columns = changed(row, body)
        row = await sources.update(row, columns)
        if "config" in columns and not row.paused:
            await Syncs(connection, caller.workspace_id).queue(source_id, SyncTrigger.schedule)
        [source] = await sources.resources([row])
    return tagged(source, response)


@router.delete(
    "/{source_id}",
    summary="Delete a source with its documents",
    response_model=SourceDeletion,
    responses={
        **MISSING,
        202: {"model": SourceDeletion, "description": "Some services have not confirmed yet"},
        204: {"description": "The source is deleted and its documents are kept"},
    },
)
async def delete_source(
    source_id: UUID,
    response: Response,
    caller: Owner,
    here: UsedParts,
    keep_documents: Annotated[bool, Query(description="Keep its documents as if they had been uploaded")] = False,
    timeout: Annotated[float, Query(ge=0, le=300, description="Seconds to wait for confirmations")] = 10,
) -> SourceDeletion | Response:
    """Deletes the source and, in every service, the documents that come only from it; the receipt proves it."""
    async with here.catalogs.open(caller.workspace_id) as catalog:
        if keep_documents:
            await removal.delete_but_keep_documents(catalog, source_id)
            return Response(status_code=204)
        await removal.delete_with_documents(catalog, source_id)

    async def is_complete() -> bool:  # the receipt of thousands of documents is not summed up at each look
        async with here.catalogs.open(caller.workspace_id) as catalog:
            return not await catalog.deletions.is_source_pending(source_id)

    await until(here.notifications, DOCUMENT_CHANNEL, None, is_complete, bool, timeout)
    receipt = await get_source_receipt(source_id, caller, here)
    response.status_code = 202 if receipt.completed_at is None else 200
    return receipt


@router.get(
    "/{source_id}/receipt",
    summary="Get the receipt of a source's deletion",
    response_model=SourceDeletion,
    responses=MISSING,
)
async def get_source_receipt(source_id: UUID, caller: Viewer, here: UsedParts) -> SourceDeletion:
    """Returns the sum of the receipts of all documents deleted with the source."""
    async with here.catalogs.open(caller.workspace_id) as catalog:
        try:
            return await catalog.deletions.source_receipt(source_id)
        except ReceiptNotFound as error:
            raise SourceReceiptNotFound from error
