"""Receives one file: refuses it with a reason, finds its document, or stores it as a new one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID, uuid4

from contracts.events import DocumentStored
from contracts.formats import SUPPORTED
from contracts.ingestion import DocumentStatus, OriginKind, UploadedFile
from ingestion import documents
from ingestion.formats import media_type_of
from ingestion.multipart import ReceivedFile
from ingestion.names import NAMELESS, safe_name
from ingestion.retry import retry_failed
from ingestion.rows import DocumentRow
from service_kit.objects import ObjectStore, original_key
from service_kit.outbox import Outbox
from service_kit.postgres import Connection, Database

FIELDS = frozenset({"files", "file"})


@dataclass(frozen=True)
class NewFile:
    """A file that may become a document."""

    received: ReceivedFile
    name: str
    media_type: str
    received_at: datetime


class Uploads:
    """Stores what was received: the original first, then its document, stages and event in one transaction."""

    def __init__(self, database: Database, objects: ObjectStore, outbox: Outbox, max_file_bytes: int) -> None:
        self.database, self.objects, self.outbox, self.max_file_bytes = database, objects, outbox, max_file_bytes

    async def accept(self, workspace_id: UUID, received: ReceivedFile) -> UploadedFile:
        """What became of the file; raises Unavailable when a store is away."""
        name = safe_name(received.part.file_name or b"")
        refusal = self._refusal(received, name)
        if refusal:
            error, message = refusal
            return UploadedFile(name=name, error=error, message=message)
        media_type = media_type_of(name, received.head)
        assert media_type is not None
        file = NewFile(received, name, media_type, datetime.now(UTC))
        document, created = await self._find_or_store(workspace_id, file)
        return UploadedFile(name=name, document=document.resource(), created=created)

    def _refusal(self, received: ReceivedFile, name: str) -> tuple[str, str] | None:
        """(slug, message), or None when the file is accepted."""
        if received.part.field not in FIELDS:
            return "unexpected-field", f"the field is called {received.part.field[:50]!r}; files go into `files`"
        if received.part.file_name is None:
            return "no-file-name", "the part has no file name"
        if received.too_large:
            return "file-too-large", f"the file has more than {self.max_file_bytes} bytes, the largest accepted size"
        if received.size == 0:
            return "empty-file", "the file is empty"
        if media_type_of(name, received.head) is None:
            kind = "it has no extension and is not text" if name == NAMELESS or "." not in name else "by its extension"
            return "unsupported-format", f"the format is not supported ({kind}); supported: {', '.join(SUPPORTED)}"
        return None

    async def _find_or_store(self, workspace_id: UUID, file: NewFile) -> tuple[DocumentRow, bool]:
        content_hash = file.received.content_hash
        async with self.database.workspace(workspace_id) as connection:
            known = await documents.find_by_hash(connection, workspace_id, content_hash)
        if known is None or known.status is DocumentStatus.failed:
            # The object goes first: a document without its original cannot exist.
            await self._store_original(workspace_id, file)
        async with self.database.workspace(workspace_id) as connection:
            await documents.lock_content(connection, workspace_id, content_hash)
            known = await documents.find_by_hash(connection, workspace_id, content_hash)
            if known:
                return await self._known(connection, known), False
            if not await self.objects.aexists(original_key(workspace_id, content_hash)):
                # The erasure of a deleted document with these bytes came between.
                await self._store_original(workspace_id, file)
            return await self._create(connection, workspace_id, file), True

    async def _store_original(self, workspace_id: UUID, file: NewFile) -> None:
        key = original_key(workspace_id, file.received.content_hash)
        await self.objects.aput_file(key, file.received.path, file.media_type)

    async def _known(self, connection: Connection, document: DocumentRow) -> DocumentRow:
        """The document of the same bytes; one that had failed gets another chance."""
        locked = await documents.lock(connection, document.workspace_id, document.id)
        if locked is None or locked.status is not DocumentStatus.failed:
            return document
        await retry_failed(connection, self.outbox, locked)
        return await documents.find(connection, document.workspace_id, document.id)

    async def _create(self, connection: Connection, workspace_id: UUID, file: NewFile) -> DocumentRow:
        received = file.received
        document = await documents.insert(
            connection,
            workspace_id=workspace_id,
            document_id=uuid4(),
            name=file.name,
            media_type=file.media_type,
            file_size=received.size,
            content_hash=received.content_hash,
            kind=OriginKind.upload,
        )
        await documents.insert_stages(connection, workspace_id, document.id, file.received_at)
        stored = DocumentStored(
            document_id=document.id,
            name=document.name,
            object_key=original_key(workspace_id, received.content_hash),
            bytes=document.file_size,
            content_hash=document.content_hash,
        )
        await self.outbox.write(connection, workspace_id, stored, str(document.id))
        return document
