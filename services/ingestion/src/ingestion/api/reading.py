"""The routes that read documents: lists, details, chunks, versions and files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Header, Path, Query
from fastapi.responses import Response, StreamingResponse

from contracts.base import Page, ProblemBody, Text
from contracts.ingestion import (
    Chunk,
    DeletionReceipt,
    Document,
    DocumentDetail,
    DocumentStatus,
    DocumentSummary,
    DocumentVersion,
    EmbeddingStatus,
    OriginKind,
)
from contracts.object_keys import original_key
from contracts.registry import ORCHESTRATOR
from ingestion.api.parts import DOCUMENT_CHANNEL, MISSING, ApiParts, UsedParts
from ingestion.api.placed_chunks import placed
from ingestion.documents import listing
from ingestion.documents.chunk_pages import read_chunk, read_chunks
from ingestion.documents.derived_objects import derived_keys
from ingestion.documents.documents import DocumentFilters
from ingestion.documents.errors import ChunkNotFound, NotConverted, OriginalNotFound
from ingestion.documents.file_names import attachment
from ingestion.documents.progress import SETTLED, Awaited
from ingestion.documents.ranges import ByteRange, is_known, wanted_range
from ingestion.documents.rows import DocumentRow, VersionRow
from ingestion.documents.workers import count_workers
from service_kit.auth import Principal, Viewer, viewer_through
from service_kit.objects import ObjectMissing
from service_kit.pagination import Cursor, Limit, decode_cursor, encode_cursor, page
from service_kit.problems import BadCursor, Problem
from service_kit.routes import Responses
from service_kit.waiting import until

router = APIRouter(prefix="/v1/documents", tags=["ingestion"])
MOST_IDS = 100
Asking = Annotated[Principal, Depends(viewer_through(ORCHESTRATOR))]
DOWNLOAD_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cache-Control": "private, no-store",
}
PARTLY: Responses = {
    206: {"content": {"application/octet-stream": {}}, "description": "The part that `Range` asks for"},
    304: {"description": "`If-None-Match` has the ETag of these bytes"},
    416: {"model": ProblemBody, "description": "The file has no such part"},
}


@router.get("", summary="List the documents", response_model=Page[Document])
async def list_documents(
    caller: Asking,
    here: UsedParts,
    status: DocumentStatus | None = None,
    name: Annotated[Text | None, Query(max_length=200, description="Part of the name, ignoring case")] = None,
    media_type: Annotated[Text | None, Query(max_length=200)] = None,
    source_id: Annotated[UUID | None, Query(description="Only documents with an origin in this source")] = None,
    source_type: OriginKind | None = None,
    tag: Annotated[Text | None, Query(max_length=200)] = None,
    embedding_status: EmbeddingStatus | None = None,
    stale: Annotated[
        bool | None, Query(description="Whether its source has not been synchronised for too long")
    ] = None,
    ids: Annotated[list[UUID] | None, Query(max_length=MOST_IDS, description="Only these documents")] = None,
    content_hash: Annotated[
        str | None,
        Query(pattern="^[0-9a-f]{64}$", description="Only the document with these bytes: their SHA-256 (hex)"),
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Document]:
    """Returns the workspace's documents, newest first."""
    filters = DocumentFilters(
        status=status,
        name=name,
        media_type=media_type,
        source_id=source_id,
        source_type=source_type,
        tag=tag,
        embedding_status=embedding_status,
        stale=stale,
        ids=ids,
        content_hash=content_hash,
    )
    before = decode_cursor(cursor)
    async with here.catalogs.open(caller.workspace_id) as catalog:
        rows = await catalog.documents.page(filters, before, limit + 1)
    return page(rows, limit, lambda row: (row.created_at, row.id), DocumentRow.resource)


@router.get("/summary", summary="Count the documents", response_model=DocumentSummary)
async def summarise_documents(
    caller: Viewer,
    here: UsedParts,
    source_id: Annotated[UUID | None, Query(description="Only documents of this source")] = None,
) -> DocumentSummary:
    """Counts documents by status, stage and failure, and estimates how long the rest will take."""
    workers = await count_workers(here.catalogs.database, here.settings.lease_seconds)
    async with here.catalogs.open(caller.workspace_id) as catalog:
        return await listing.summary(catalog, source_id, workers)


@router.get(
    "/{document_id}", summary="Get a document, or wait for it", response_model=DocumentDetail, responses=MISSING
)
async def get_document(
    document_id: UUID,
    caller: Asking,
    here: UsedParts,
    wait: Annotated[
        Awaited | None, Query(description="Wait until the newest version reaches this state, or fails")
    ] = None,
    timeout: Annotated[float, Query(ge=0, le=300, description="Maximum seconds to wait")] = 30,
) -> DocumentDetail:
    """Returns the document with its origins and stages, and a sentence on why it is not searchable yet.

    `wait` waits until it is `searchable`, embedded for semantic search (`embedded`), in the knowledge graph
    (`graphed`), or until all processing has ended (`settled`).
    """

    async def read() -> DocumentDetail:
        return await here.detail(caller, document_id)

    done: Callable[[DocumentDetail], bool] = SETTLED[wait or "searchable"]
    return await until(here.notifications, DOCUMENT_CHANNEL, document_id, read, done, timeout if wait else 0)


@router.get(
    "/{document_id}/chunks", summary="List the chunks of a document", response_model=Page[Chunk], responses=MISSING
)
async def list_chunks(
    document_id: UUID, caller: Viewer, here: UsedParts, limit: Limit = 50, cursor: Cursor = None
) -> Page[Chunk]:
    """Returns the chunks in order, of the version that search serves, or else of the newest converted version."""
    document, version = await _readable(here, caller.workspace_id, document_id)
    of_version, offset, first = decode_cursor(cursor, int, int, int)
    if of_version not in {None, version}:
        raise BadCursor("the version has changed since the previous page")
    keys = derived_keys(document.workspace_id, document.id, version)
    try:
        found = await read_chunks(here.objects, keys.chunks, offset or 0, first or 0, limit)
        chunks = await placed(here.objects, keys, found.chunks)
    except ObjectMissing as error:
        raise NotConverted from error
    more = encode_cursor(version, *found.following) if found.following else None
    return Page(items=chunks, next_cursor=more)


@router.get("/{document_id}/chunks/{chunk_id}", summary="Get a chunk", response_model=Chunk, responses=MISSING)
async def get_chunk(
    document_id: UUID, chunk_id: Annotated[Text, Path(max_length=200)], caller: Viewer, here: UsedParts
) -> Chunk:
    """Returns a chunk named by a search or a citation, as long as the document still has it."""
    document, version = await _readable(here, caller.workspace_id, document_id)
    keys = derived_keys(document.workspace_id, document.id, version)
    try:
        found = await read_chunk(here.objects, keys.chunks, chunk_id)
        if found is None:
            raise ChunkNotFound
        (chunk,) = await placed(here.objects, keys, [found])
    except ObjectMissing as error:
        raise NotConverted from error
    return chunk


@router.get(
    "/{document_id}/versions",
    summary="List the versions of a document",
    response_model=Page[DocumentVersion],
    responses=MISSING,
)
async def list_versions(
    document_id: UUID, caller: Viewer, here: UsedParts, limit: Limit = 50, cursor: Cursor = None
) -> Page[DocumentVersion]:
    """Returns versions newest first."""
    (before,) = decode_cursor(cursor, int)
    async with here.catalogs.open(caller.workspace_id) as catalog:
        await catalog.documents.find(document_id)
        rows = await catalog.documents.versions(document_id, before=before, limit=limit + 1)
    return page(rows, limit, lambda row: (row.version,), VersionRow.resource)


def _download(media_type: str, description: str) -> Responses:
    return {**MISSING, 200: {"content": {media_type: {}}, "description": description}}


@router.get(
    "/{document_id}/original",
    summary="Download the original",
    response_class=StreamingResponse,
    responses={**_download("application/octet-stream", "The file's bytes"), **PARTLY},
)
async def download_original(
    document_id: UUID,
    caller: Asking,
    here: UsedParts,
    of: Annotated[str | None, Header(alias="Range", max_length=200)] = None,
    if_range: Annotated[str | None, Header(max_length=200)] = None,
    if_none_match: Annotated[str | None, Header(max_length=2_000)] = None,
) -> Response:
    """Returns the newest version as it was received, as a download that browsers do not render.

    `Range` asks for a part of it. Browsers keep it, but ask each time whether it is still the same (`If-None-Match`).
    """
    async with here.catalogs.open(caller.workspace_id) as catalog:
        document = await catalog.documents.find(document_id)
    etag, size = f'"{document.content_hash}"', document.file_size
    headers = {"ETag": etag, "Accept-Ranges": "bytes", "Cache-Control": "private, no-cache"}
    if is_known(if_none_match, etag):
        return Response(status_code=304, headers=headers)
    part = wanted_range(of, if_range, etag, size)
    if part is None:
        headers["Content-Length"] = str(size)
    else:
        headers |= {"Content-Length": str(part.length), "Content-Range": f"bytes {part.start}-{part.end - 1}/{size}"}
    key = original_key(caller.workspace_id, document.content_hash)
    return await _streamed(here, key, OriginalNotFound(), document.name, "application/octet-stream", headers, part)


@router.get(
    "/{document_id}/markdown",
    summary="Download the converted document",
    response_class=StreamingResponse,
    responses=_download("text/markdown", "Markdown in UTF-8"),
)
async def download_markdown(document_id: UUID, caller: Asking, here: UsedParts) -> StreamingResponse:
    """Returns the Markdown of the version that search serves, or else of the newest converted version."""
    document, version = await _readable(here, caller.workspace_id, document_id)
    key = derived_keys(document.workspace_id, document.id, version).markdown
    return await _streamed(here, key, NotConverted(), f"{document.name}.md", "text/markdown; charset=utf-8", {})


@router.get(
    "/{document_id}/receipt",
    summary="Get the receipt of a deletion",
    response_model=DeletionReceipt,
    responses=MISSING,
)
async def get_receipt(document_id: UUID, caller: Viewer, here: UsedParts) -> DeletionReceipt:
    """Returns the proof of a deletion: what each service deleted, and what it still holds."""
    async with here.catalogs.open(caller.workspace_id) as catalog:
        return await catalog.deletions.receipt(document_id)


async def _readable(here: ApiParts, workspace_id: UUID, document_id: UUID) -> tuple[DocumentRow, int]:
    """Returns the document and the number of the version to read."""
    async with here.catalogs.open(workspace_id) as catalog:
        document = await catalog.documents.find(document_id)
        return document, await catalog.documents.readable_version(document)


async def _streamed(
    here: ApiParts,
    key: str,
    missing: Problem,
    name: str,
    media_type: str,
    headers: dict[str, str],
    part: ByteRange | None = None,
) -> StreamingResponse:
    try:
        body = await here.objects.astream(key, *((part.start, part.length) if part else ()))
    except ObjectMissing as error:
        raise missing from error
    headers = {"Content-Disposition": attachment(name), **DOWNLOAD_HEADERS, **headers}
    return StreamingResponse(body, 206 if part else 200, headers, media_type)
