"""Documents: upload, state, original, deletion."""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from attractor_client.errors import InvalidRequest, NotSendable, UnexpectedAnswer
from attractor_client.pages import every
from attractor_client.transport import Transport, path
from contracts.base import Page
from contracts.ingestion import DeletionReceipt, Document, DocumentDetail, DocumentStatus, Upload, UploadedFile

DOCUMENTS = "/v1/documents"
FileToUpload = Path | tuple[str, bytes | BinaryIO]
"""A file on disk, or a name with bytes or an open binary file that can be rewound."""

LONG_POLL_SECONDS = 20.0
ANSWER_SECONDS = 30.0
REFUSED = TypeAdapter(list[UploadedFile])


class Documents:
    """`client.documents`. Ids that are not in the key's workspace raise NotFound."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def upload(self, *files: FileToUpload) -> list[UploadedFile]:
        """Streams the files to the server in one request and says, in their order, what became of each.

        A refused file has `error` and `message`. The same bytes are the same document, `created` is then False.
        Raises OSError when a file cannot be read, NotSendable when it changed while it was sent.
        """
        with ExitStack() as opened:
            parts = []
            for file in files:
                name, content = (file.name, opened.enter_context(file.open("rb"))) if isinstance(file, Path) else file
                body = content if isinstance(content, bytes) else FixedLength(content)
                parts.append(("files", (_sendable(name), body, "application/octet-stream")))
            try:
                answer = await self.transport.send(
                    "POST", DOCUMENTS, files=parts, repeatable=True, timeout=max(self.transport.timeout, 120.0)
                )
            except InvalidRequest as refusal:
                return _refused(refusal)
        return self.transport.parse(answer, Upload).files

    async def page(
        self,
        *,
        status: DocumentStatus | None = None,
        name: str | None = None,
        media_type: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Document]:
        """One page, newest first; `name` is a part of the name, `limit` at most 200."""
        params = {"status": status, "name": name, "media_type": media_type, "limit": limit, "cursor": cursor}
        return await self.transport.get(DOCUMENTS, Page[Document], params)

    def all(
        self, *, status: DocumentStatus | None = None, name: str | None = None, media_type: str | None = None
    ) -> AsyncIterator[Document]:
        """Every document, newest first."""
        params = {"status": status, "name": name, "media_type": media_type}
        return every(self.transport, DOCUMENTS, Page[Document], params)

    async def get(self, document_id: UUID) -> DocumentDetail:
        return await self.transport.get(path("v1/documents", document_id), DocumentDetail)

    async def poll(self, document_id: UUID, timeout: float) -> DocumentDetail:
        """The document as soon as it is searchable or has failed, or as it is after `timeout` seconds (at most 300)."""
        place, params = path("v1/documents", document_id), {"wait": "searchable", "timeout": timeout}
        return await self.transport.get(place, DocumentDetail, params, timeout=timeout + ANSWER_SECONDS)

    async def wait(self, document_id: UUID, timeout: float | None = None) -> DocumentDetail:
        """The document when it is searchable or has failed; raises TimeoutError after `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = LONG_POLL_SECONDS if deadline is None else min(LONG_POLL_SECONDS, deadline - time.monotonic())
            document = await self.poll(document_id, max(left, 0.0))
            if document.status is not DocumentStatus.processing:
                return document
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError(document.explanation)

    async def retry(self, document_id: UUID) -> DocumentDetail:
        """Runs it again from the stage that failed; raises Conflict when none has."""
        answer = await self.transport.send("POST", path("v1/documents", document_id, "retry"))
        return self.transport.parse(answer, DocumentDetail)

    async def delete(self, document_id: UUID, timeout: float = 10.0) -> DeletionReceipt:
        """Removes it everywhere. Waits up to `timeout` seconds for all to confirm; `pending` names the others."""
        answer = await self.transport.send(
            "DELETE", path("v1/documents", document_id), params={"timeout": timeout}, timeout=timeout + ANSWER_SECONDS
        )
        return self.transport.parse(answer, DeletionReceipt)

    async def receipt(self, document_id: UUID) -> DeletionReceipt:
        """What each service removed of a deleted document."""
        return await self.transport.get(path("v1/documents", document_id, "receipt"), DeletionReceipt)

    async def original(self, document_id: UUID) -> AsyncIterator[bytes]:
        """The bytes of the file as it was uploaded, piece by piece."""
        async with self.transport.stream(path("v1/documents", document_id, "original")) as response:
            async for piece in response.aiter_bytes():
                yield piece

    async def download(self, document: Document, to: Path) -> None:
        """Writes the original to `to`, which appears only when it is complete and has the document's SHA-256."""
        part, digest = to.with_name(f".{to.name}.part"), hashlib.sha256()
        try:
            with part.open("wb") as file:
                async for piece in self.original(document.id):
                    digest.update(piece)
                    await asyncio.to_thread(file.write, piece)
            if digest.hexdigest() != document.content_hash:
                raise UnexpectedAnswer("The file arrived altered", "its SHA-256 is not that of the document")
            part.replace(to)
        finally:
            part.unlink(missing_ok=True)


class FixedLength:
    """A file as long as it is now, which is the length that the request announces: what it gains is left out.

    Raises NotSendable when it gets shorter.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.length = file, file.seek(0, os.SEEK_END)

    def tell(self) -> int:
        return self.file.tell()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self.file.seek(self.length + offset if whence == os.SEEK_END else offset)

    def read(self, size: int) -> bytes:
        left = self.length - self.file.tell()
        data = self.file.read(min(size, left))
        if left and not data:
            raise NotSendable("The file could not be sent", "it became shorter while it was read")
        return data


def _sendable(name: str) -> str:
    """Names that are not UTF-8 on disk hold lone surrogates in Python; those cannot be sent."""
    return name.encode("utf-8", "replace").decode("utf-8")


def _refused(refusal: InvalidRequest) -> list[UploadedFile]:
    """When no file was accepted the answer is a problem that says why for each."""
    try:
        return REFUSED.validate_python(refusal.extra["files"])
    except (KeyError, ValidationError):
        raise refusal from None
