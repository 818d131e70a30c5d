"""The routes that upload, replace, change, retry, cancel and delete documents."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from contracts.base import ProblemBody, Text
from contracts.ingestion import (
    ActionResult,
    DeletionReceipt,
    DocumentDetail,
    DocumentFilter,
    DocumentUpdate,
    Lane,
    OriginKind,
    Upload,
    UploadedFile,
)
from ingestion.api.parts import DOCUMENT_CHANNEL, MISSING, ApiParts, UsedParts
from ingestion.documents import actions
from ingestion.documents.catalog import Catalog
from ingestion.documents.errors import NothingToCancel, NothingToRetry, QuotaExceeded
from ingestion.documents.refusals import QUOTA_EXCEEDED
from ingestion.uploads.errors import NoFiles, NothingAccepted, TooManyFiles
from ingestion.uploads.multipart import ReceivedFile, received_files
from ingestion.uploads.upload import FULL, Key, too_much_queued
from service_kit.auth import Editor
from service_kit.request_headers import STALE, ExpectedVersion
from service_kit.routes import Responses
from service_kit.waiting import until

router = APIRouter(prefix="/v1/documents", tags=["ingestion"])
QUEUED: Responses = {
    429: {"model": ProblemBody, "description": "The workspace's conversion queue is full; see Retry-After"}
}
BODY: Responses = {
    400: {"model": ProblemBody, "description": "The body is not well-formed multipart/form-data"},
    413: {"model": ProblemBody, "description": "Too many files"},
    415: {"model": ProblemBody, "description": "The body is not multipart/form-data"},
    422: {"model": ProblemBody, "description": "No file, or none was accepted; `files` says why"},
}


def _files_schema(**properties: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "required": list(properties), "properties": properties}
    return {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}}


BINARY = {"type": "string", "format": "binary"}


@router.post(
    "",
    summary="Upload documents",
    status_code=202,
    response_model=Upload,
    openapi_extra=_files_schema(files={"type": "array", "items": BINARY}),
    responses={**BODY, **QUEUED, 409: {"model": ProblemBody, "description": "The workspace's quota is used up"}},
)
async def upload_documents(
    request: Request,
    caller: Editor,
    here: UsedParts,
    key: Annotated[
        Text | None,
        Query(min_length=1, max_length=500, description="The caller's own name for the single file of this request"),
    ] = None,
    source_type: Annotated[Literal["upload", "artifact"], Query(description="What the key identifies")] = "upload",
) -> Upload:
    """Receives one or more files in the field `files` and queues them for conversion.

    The response reports on each file in the order sent; a rejected file does not stop the others. Archives (.zip, .tar,
    compressed or not) are expanded, and each file in them is reported as if sent by itself. The same bytes in the same
    workspace are the same document (`created` is then false), so repeating a request is safe; a failed document is
    retried. Different bytes under the same `key` become a new version of its document.
    """
    files: list[UploadedFile] = []
    received_parts = 0
    work = await here.uploads.begin(caller.workspace_id, Key(OriginKind(source_type), key))
    async with aclosing(_received(request, here)) as incoming:
        async for received in incoming:
            if received_parts == here.settings.max_files_per_upload:
                raise TooManyFiles(f"at most {here.settings.max_files_per_upload} files in one request")
            received_parts += 1
            files += await work.accept(received)
    _require_one(files)
    return Upload(files=files)


@router.post("/retry", summary="Retry documents", status_code=202, response_model=ActionResult)
async def retry_documents(chosen: DocumentFilter, caller: Editor, here: UsedParts) -> ActionResult:
    """Runs the matching documents again from the stage that failed or was cancelled.

    They are queued behind users' uploads.
    """

    async def retry(catalog: Catalog, ids: Sequence[UUID]) -> int:
        return await actions.retry(catalog, ids, Lane.bulk)

    return await actions.for_all(here.catalogs, caller.workspace_id, chosen, retry)


@router.post("/cancel", summary="Cancel documents", response_model=ActionResult)
async def cancel_documents(chosen: DocumentFilter, caller: Editor, here: UsedParts) -> ActionResult:
    """Cancels the matching documents that are queued or being processed."""

    return await actions.for_all(here.catalogs, caller.workspace_id, chosen, actions.cancel)


@router.put(
    "/{document_id}",
    summary="Replace the content of a document",
    status_code=202,
    response_model=UploadedFile,
    openapi_extra=_files_schema(file=BINARY),
    responses={
        **BODY,
        **MISSING,
        **QUEUED,
        409: {
            "model": ProblemBody,
            "description": "A source manages it, another document has the same content, or the quota is used up",
        },
        **STALE,
    },
)
async def replace_content(
    document_id: UUID, request: Request, caller: Editor, here: UsedParts, expected: ExpectedVersion
) -> UploadedFile:
    """Receives one file and makes it a new version; search serves the previous one until it is indexed."""
    async with here.catalogs.open(caller.workspace_id) as catalog:
        await catalog.documents.find(document_id)
    work = await here.uploads.begin(caller.workspace_id, Key(OriginKind.upload, None))
    files: list[UploadedFile] = []
    async with aclosing(_received(request, here)) as incoming:
        async for received in incoming:
            if files:
                raise TooManyFiles("the content of a document is one file")
            files.append(await work.replace(document_id, received, expected))
    _require_one(files)
    return files[0]


@router.patch(
    "/{document_id}", summary="Change a document's title or tags", response_model=DocumentDetail, responses=MISSING
)
async def update_document(document_id: UUID, body: DocumentUpdate, caller: Editor, here: UsedParts) -> DocumentDetail:
    """Changes the title, the tags, or both; searches and later citations show them within moments."""
    async with here.catalogs.open(caller.workspace_id) as catalog:
        await catalog.give(document_id, body.title, body.tags)
    return await here.detail(caller, document_id)


@router.post(
    "/{document_id}/retry",
    summary="Retry a document",
    status_code=202,
    response_model=DocumentDetail,
    responses={**MISSING, 409: {"model": ProblemBody, "description": "No stage has failed or was cancelled"}},
)
async def retry_document(document_id: UUID, caller: Editor, here: UsedParts) -> DocumentDetail:
    """Runs the document again from the stage that failed or was cancelled; a postponed stage becomes due at once."""
    async with here.catalogs.open(caller.workspace_id) as catalog:
        await catalog.documents.find(document_id)
        if not await actions.retry(catalog, [document_id], Lane.interactive):
            raise NothingToRetry
    return await here.detail(caller, document_id)


@router.post(
    "/{document_id}/cancel",
    summary="Cancel a document",
    response_model=DocumentDetail,
    responses={
        **MISSING,
        409: {"model": ProblemBody, "description": "The document is neither queued nor being processed"},
    },
)
async def cancel_document(document_id: UUID, caller: Editor, here: UsedParts) -> DocumentDetail:
    """Cancels conversion or embedding. A searchable version stays searchable; a retry resumes the work."""
    async with here.catalogs.open(caller.workspace_id) as catalog:
        await catalog.documents.find(document_id)
        if not await actions.cancel(catalog, [document_id]):
            raise NothingToCancel
    return await here.detail(caller, document_id)


@router.delete(
    "/{document_id}",
    summary="Delete a document everywhere",
    response_model=DeletionReceipt,
    responses={**MISSING, 202: {"model": DeletionReceipt, "description": "Some services have not confirmed yet"}},
)
async def delete_document(
    document_id: UUID,
    response: Response,
    caller: Editor,
    here: UsedParts,
    timeout: Annotated[float, Query(ge=0, le=300, description="Seconds to wait for confirmations")] = 10,
) -> DeletionReceipt:
    """Deletes the document from every service; it disappears at once, and each service confirms what it deleted.

    Its source does not bring it back.
    """
    async with here.catalogs.open(caller.workspace_id) as catalog:
        await catalog.delete(document_id)

    async def read() -> DeletionReceipt:
        async with here.catalogs.open(caller.workspace_id) as catalog:
            return await catalog.deletions.receipt(document_id)

    receipt = await until(here.notifications, DOCUMENT_CHANNEL, document_id, read, _is_complete, timeout)
    response.status_code = 200 if _is_complete(receipt) else 202
    return receipt


def _is_complete(receipt: DeletionReceipt) -> bool:
    return receipt.completed_at is not None


def _received(request: Request, here: ApiParts) -> AsyncGenerator[ReceivedFile]:
    content_type = request.headers.get("content-type", "")
    return received_files(content_type, request.stream(), here.settings.upload_folder, here.settings.max_file_bytes)


def _require_one(files: list[UploadedFile]) -> None:
    """Raises NoFiles, TooMuchQueued, QuotaExceeded or NothingAccepted unless a file was accepted."""
    if not files:
        raise NoFiles
    if any(file.document for file in files):
        return
    if all(file.error == FULL.error for file in files):
        raise too_much_queued()
    refused = [file.model_dump(mode="json") for file in files]
    if all(file.error == QUOTA_EXCEEDED for file in files):
        raise QuotaExceeded(files[0].message, files=refused)
    raise NothingAccepted(files[0].message, files=refused)
