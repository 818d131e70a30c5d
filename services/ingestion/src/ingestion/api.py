"""The routes: documents in, their state, their original, their end."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse

from contracts.base import Page, ProblemBody, Text
from contracts.ingestion import DeletionReceipt, Document, DocumentDetail, DocumentStatus, Upload, UploadedFile
from ingestion import deletion, documents
from ingestion.errors import NoFiles, NothingAccepted, OriginalNotFound, TooManyFiles
from ingestion.multipart import received_files
from ingestion.names import attachment
from ingestion.retry import retry_failed
from ingestion.settings import Settings
from ingestion.upload import Uploads
from ingestion.waiting import until
from service_kit.auth import Editor, Viewer
from service_kit.notifications import Notifications
from service_kit.objects import ObjectMissing, ObjectStore, original_key
from service_kit.outbox import Outbox
from service_kit.pagination import Cursor, Limit, decode_cursor, encode_cursor
from service_kit.postgres import Database

router = APIRouter(prefix="/v1/documents", tags=["ingestion"])
DOCUMENT_CHANNEL = "ingestion_document"
WORK_CHANNEL = "ingestion_work"
MISSING: dict[int | str, dict[str, Any]] = {404: {"model": ProblemBody, "description": "No such document"}}
FILES_SCHEMA = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["files"],
                "properties": {"files": {"type": "array", "items": {"type": "string", "format": "binary"}}},
            }
        }
    },
}


@dataclass(frozen=True)
class Parts:
    """What the routes need, built in app.py."""

    settings: Settings
    database: Database
    objects: ObjectStore
    outbox: Outbox
    notifications: Notifications
    uploads: Uploads


def parts(request: Request) -> Parts:
    found: Parts = request.app.state.ingestion
    return found


Ingestion = Annotated[Parts, Depends(parts)]


@router.post(
    "",
    summary="Upload documents",
    status_code=202,
    response_model=Upload,
    openapi_extra={"requestBody": FILES_SCHEMA},
    responses={
        400: {"model": ProblemBody, "description": "The body is not well-formed multipart/form-data"},
        413: {"model": ProblemBody, "description": "Too many files"},
        415: {"model": ProblemBody, "description": "The body is not multipart/form-data"},
        422: {"model": ProblemBody, "description": "No file, or none that was accepted; `files` says why"},
    },
)
async def upload_documents(request: Request, caller: Editor, here: Ingestion) -> Upload:
    """Receives one file or many in the field `files` and queues them for conversion.

    The answer says for each file, in the order sent, what became of it; a refused file does not stop the others. The
    same bytes in the same workspace are the same document (`created` is then false), so that a repeated request does
    no harm. A document that had failed is tried again.
    """
    files: list[UploadedFile] = []
    content_type = request.headers.get("content-type", "")
    folder, limit = here.settings.upload_folder, here.settings.max_file_bytes
    async with aclosing(received_files(content_type, request.stream(), folder, limit)) as incoming:
        async for received in incoming:
            if len(files) == here.settings.max_files_per_upload:
                raise TooManyFiles(f"at most {here.settings.max_files_per_upload} files in one request")
            files.append(await here.uploads.accept(caller.workspace_id, received))
    if not files:
        raise NoFiles
    if all(file.document is None for file in files):
        raise NothingAccepted(files[0].message, files=[file.model_dump(mode="json") for file in files])
    return Upload(files=files)


@router.get("", summary="List the documents", response_model=Page[Document])
async def list_documents(
    caller: Viewer,
    here: Ingestion,
    status: DocumentStatus | None = None,
    name: Annotated[Text | None, Query(max_length=200, description="Part of the name, in either case")] = None,
    media_type: Annotated[Text | None, Query(max_length=200)] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Document]:
    """The documents of the workspace, newest first."""
    before = decode_cursor(cursor)
    async with here.database.workspace(caller.workspace_id) as connection:
        rows = await documents.page(
            connection,
            caller.workspace_id,
            status=status,
            name=name,
            media_type=media_type,
            before=before,
            limit=limit + 1,
        )
    more = encode_cursor(rows[limit - 1].created_at, rows[limit - 1].id) if len(rows) > limit else None
    return Page(items=[row.resource() for row in rows[:limit]], next_cursor=more)


@router.get(
    "/{document_id}", summary="Read a document, or wait for it", response_model=DocumentDetail, responses=MISSING
)
async def get_document(
    document_id: UUID,
    caller: Viewer,
    here: Ingestion,
    wait: Annotated[Literal["searchable"] | None, Query(description="Answer when it is searchable or failed")] = None,
    timeout: Annotated[float, Query(ge=0, le=300, description="Seconds to wait at most")] = 30,
) -> DocumentDetail:
    """The document with its stages, and in one sentence why it is not searchable yet."""

    async def read() -> DocumentDetail:
        async with here.database.workspace(caller.workspace_id) as connection:
            return await documents.detail(connection, caller.workspace_id, document_id)

    seconds = timeout if wait else 0
    return await until(here.notifications, DOCUMENT_CHANNEL, document_id, read, _is_settled, seconds)


def _is_settled(document: DocumentDetail) -> bool:
    return document.status is not DocumentStatus.processing


@router.get(
    "/{document_id}/original",
    summary="Download the original",
    response_class=StreamingResponse,
    responses={**MISSING, 200: {"content": {"application/octet-stream": {}}, "description": "The file's bytes"}},
)
async def download_original(document_id: UUID, caller: Viewer, here: Ingestion) -> StreamingResponse:
    """The file as it was uploaded, always as a download: a browser never shows it in place."""
    async with here.database.workspace(caller.workspace_id) as connection:
        document = await documents.find(connection, caller.workspace_id, document_id)
    try:
        body = await here.objects.astream(original_key(caller.workspace_id, document.content_hash))
    except ObjectMissing as error:
        raise OriginalNotFound from error
    headers = {
        "Content-Disposition": attachment(document.name),
        "Content-Length": str(document.file_size),
        "ETag": f'"{document.content_hash}"',
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "Cache-Control": "private, no-store",
    }
    return StreamingResponse(body, media_type="application/octet-stream", headers=headers)


@router.post(
    "/{document_id}/retry",
    summary="Try a failed document again",
    status_code=202,
    response_model=DocumentDetail,
    responses={**MISSING, 409: {"model": ProblemBody, "description": "No stage has failed"}},
)
async def retry_document(document_id: UUID, caller: Editor, here: Ingestion) -> DocumentDetail:
    """Runs the document again from the stage that failed."""
    async with here.database.workspace(caller.workspace_id) as connection:
        document = await documents.find(connection, caller.workspace_id, document_id, for_update=True)
        await retry_failed(connection, here.outbox, document)
        return await documents.detail(connection, caller.workspace_id, document_id)


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
    here: Ingestion,
    timeout: Annotated[float, Query(ge=0, le=300, description="Seconds to wait for the confirmations")] = 10,
) -> DeletionReceipt:
    """Removes the document everywhere: nobody sees it from now on, and each service confirms what it removed."""
    async with here.database.workspace(caller.workspace_id) as connection:
        await deletion.request(connection, here.outbox, caller.workspace_id, document_id)

    async def read() -> DeletionReceipt:
        async with here.database.workspace(caller.workspace_id) as connection:
            return await deletion.receipt(connection, caller.workspace_id, document_id)

    receipt = await until(here.notifications, DOCUMENT_CHANNEL, document_id, read, _is_complete, timeout)
    response.status_code = 200 if _is_complete(receipt) else 202
    return receipt


def _is_complete(receipt: DeletionReceipt) -> bool:
    return receipt.completed_at is not None


@router.get(
    "/{document_id}/receipt",
    summary="Read the receipt of a deletion",
    response_model=DeletionReceipt,
    responses=MISSING,
)
async def get_receipt(document_id: UUID, caller: Viewer, here: Ingestion) -> DeletionReceipt:
    """The proof of a deletion: what each service removed, and what it still counts."""
    async with here.database.workspace(caller.workspace_id) as connection:
        return await deletion.receipt(connection, caller.workspace_id, document_id)
