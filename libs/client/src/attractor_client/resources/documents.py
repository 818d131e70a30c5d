"""Documents: upload, state, original, deletion."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TypedDict, Unpack
from uuid import UUID

from attractor_client.errors import InvalidRequest, UnexpectedAnswer
from attractor_client.http.pages import every
from attractor_client.http.transport import Transport, path
from attractor_client.http.upload import FileToUpload, parts_of, refused
from contracts.base import Page
from contracts.ingestion import (
    ActionResult,
    Chunk,
    DeletionReceipt,
    Document,
    DocumentDetail,
    DocumentFilter,
    DocumentStatus,
    DocumentSummary,
    DocumentUpdate,
    DocumentVersion,
    EmbeddingStatus,
    OriginKind,
    Upload,
    UploadedFile,
)

DOCUMENTS = "/v1/documents"
LONG_POLL_SECONDS = 20.0
ANSWER_SECONDS = 30.0
UPLOAD_SECONDS = 120.0


class ListFilters(TypedDict, total=False):
    """Filters for lists of documents; None, or omitting one, does not limit. `name` matches part of a name."""

    status: DocumentStatus | None
    name: str | None
    media_type: str | None
    source_id: UUID | None
    source_type: OriginKind | None
    tag: str | None
    embedding_status: EmbeddingStatus | None
    stale: bool | None
    ids: Sequence[UUID] | None


class Documents:
    """`client.documents`. Ids that are not in the key's workspace raise NotFound."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def upload(
        self, *files: FileToUpload, key: str | None = None, source_type: OriginKind = OriginKind.upload
    ) -> list[UploadedFile]:
        """Uploads files in one streamed request; returns the result of each, in order.

        A refused file has `error` and `message`. If the same bytes already exist, their document is returned and
        `created` is False. An archive is expanded, with a result for each file. `key` is a name of your own for one
        file: other bytes under the same key are a new version of its document. Raises OSError if a file cannot be read,
        NotSendable if it changes while it is sent.
        """
        with ExitStack() as opened:
            try:
                answer = await self.transport.send(
                    "POST",
                    DOCUMENTS,
                    files=parts_of(files, opened),
                    params={"key": key, "source_type": source_type} if key else None,
                    repeatable=True,
                    timeout=max(self.transport.timeout, UPLOAD_SECONDS),
                )
            except InvalidRequest as refusal:
                return refused(refusal)
        return self.transport.parse(answer, Upload).files

    async def replace(self, document_id: UUID, file: FileToUpload) -> UploadedFile:
        """Uploads a new version of a document; the old one stays searchable until the new one is."""
        with ExitStack() as opened:
            return await self.transport.fetch(
                "PUT",
                path("v1/documents", document_id),
                UploadedFile,
                files=parts_of([file], opened),
                timeout=max(self.transport.timeout, UPLOAD_SECONDS),
            )

    async def page(
        self, *, limit: int = 50, cursor: str | None = None, **filters: Unpack[ListFilters]
    ) -> Page[Document]:
        """Returns one page, newest first; `limit` is at most 200, the filters are as for `all`."""
        return await self.transport.get(DOCUMENTS, Page[Document], {**filters, "limit": limit, "cursor": cursor})

    def all(self, **filters: Unpack[ListFilters]) -> AsyncIterator[Document]:
        """Lists all documents, newest first."""
        return every(self.transport, DOCUMENTS, Page[Document], filters)

    async def summary(self, source_id: UUID | None = None) -> DocumentSummary:
        """Returns counts, rate and time left, for the workspace or one source."""
        return await self.transport.get(f"{DOCUMENTS}/summary", DocumentSummary, {"source_id": source_id})

    def chunks(self, document_id: UUID) -> AsyncIterator[Chunk]:
        """Lists the chunks of the searchable version, in order."""
        return every(self.transport, path("v1/documents", document_id, "chunks"), Page[Chunk])

    async def chunk(self, document_id: UUID, chunk_id: str) -> Chunk:
        """Returns a chunk that a search or citation named. Raises NotFound if the document no longer has it."""
        return await self.transport.get(path("v1/documents", document_id, "chunks", chunk_id), Chunk)

    def versions(self, document_id: UUID) -> AsyncIterator[DocumentVersion]:
        """Lists the document's versions, newest first."""
        return every(self.transport, path("v1/documents", document_id, "versions"), Page[DocumentVersion])

    async def get(self, document_id: UUID) -> DocumentDetail:
        return await self.transport.get(path("v1/documents", document_id), DocumentDetail)

    async def poll(self, document_id: UUID, timeout: float) -> DocumentDetail:
        """Returns the document once it is searchable or failed, or as it is after `timeout` seconds (at most 300)."""
        place, params = path("v1/documents", document_id), {"wait": "searchable", "timeout": timeout}
        return await self.transport.get(place, DocumentDetail, params, timeout=timeout + ANSWER_SECONDS)

    async def wait(self, document_id: UUID, timeout: float | None = None) -> DocumentDetail:
        """Waits until the document is searchable or failed; raises TimeoutError after `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = LONG_POLL_SECONDS if deadline is None else min(LONG_POLL_SECONDS, deadline - time.monotonic())
            document = await self.poll(document_id, max(left, 0.0))
            if document.status is not DocumentStatus.processing:
                return document
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError(document.explanation)

    async def update(
        self, document_id: UUID, *, title: str | None = None, tags: Sequence[str] | None = None
    ) -> DocumentDetail:
        """Changes what is given. The title and tags then stay when the file changes."""
        body = DocumentUpdate(title=title, tags=None if tags is None else list(tags))
        return await self.transport.fetch(
            "PATCH", path("v1/documents", document_id), DocumentDetail, body=body, repeatable=True
        )

    async def retry(self, document_id: UUID) -> DocumentDetail:
        """Retries from the stage that failed; raises Conflict if none has."""
        return await self.transport.fetch("POST", path("v1/documents", document_id, "retry"), DocumentDetail)

    async def cancel(self, document_id: UUID) -> DocumentDetail:
        """Cancels the document's conversion or embedding; raises Conflict if neither is in progress."""
        return await self.transport.fetch("POST", path("v1/documents", document_id, "cancel"), DocumentDetail)

    async def retry_all(self, which: DocumentFilter) -> ActionResult:
        """Retries every document that matches the filter."""
        return await self.transport.query(f"{DOCUMENTS}/retry", which, ActionResult)

    async def cancel_all(self, which: DocumentFilter) -> ActionResult:
        """Cancels every document that matches the filter."""
        return await self.transport.query(f"{DOCUMENTS}/cancel", which, ActionResult)

    async def delete(self, document_id: UUID, timeout: float = 10.0) -> DeletionReceipt:
        """Deletes a document everywhere; waits up to `timeout` seconds. `pending` names services yet to confirm."""
        return await self.transport.fetch(
            "DELETE",
            path("v1/documents", document_id),
            DeletionReceipt,
            params={"timeout": timeout},
            timeout=timeout + ANSWER_SECONDS,
        )

    async def receipt(self, document_id: UUID) -> DeletionReceipt:
        """Returns what each service deleted of a document."""
        return await self.transport.get(path("v1/documents", document_id, "receipt"), DeletionReceipt)

    async def original(self, document_id: UUID) -> AsyncIterator[bytes]:
        """Yields the bytes of the original file."""
        async with self.transport.stream(path("v1/documents", document_id, "original")) as response:
            async for piece in response.aiter_bytes():
                yield piece

    async def download(self, document: Document, to: Path) -> None:
        """Downloads the original to `to`, which appears only once it is complete and its SHA-256 matches."""
        part, digest = to.with_name(f".{to.name}.part"), hashlib.sha256()
        try:
            with part.open("wb") as file:
                async for piece in self.original(document.id):
                    digest.update(piece)
                    await asyncio.to_thread(file.write, piece)
            if digest.hexdigest() != document.content_hash:
                raise UnexpectedAnswer("The downloaded file is corrupt", "its SHA-256 differs from the document's")
            part.replace(to)
        finally:
            part.unlink(missing_ok=True)
