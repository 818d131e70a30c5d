"""A document's versions: its first, and those that a changed source or upload makes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from psycopg.rows import class_row

from contracts.events import DocumentStored
from contracts.ingestion import Lane, OriginKind
from ingestion.documents import documents
from ingestion.documents.errors import NotConverted
from ingestion.documents.rows import DocumentRow, VersionRow
from ingestion.statements import SQL
from service_kit.objects import original_key
from service_kit.outbox import Outbox
from service_kit.postgres import Connection
from service_kit.tracing import outgoing_headers


@dataclass(frozen=True)
class Content:
    """What a version is made of; its original is stored already."""

    name: str
    media_type: str
    file_size: int
    content_hash: str
    received_at: datetime


async def create(
    connection: Connection, outbox: Outbox, workspace_id: UUID, content: Content, kind: OriginKind, lane: Lane
) -> DocumentRow:
    """A document with its first version, queued. The caller holds the content's lock and gives it an origin."""
    document = await documents.insert(
        connection,
        workspace_id=workspace_id,
        document_id=uuid4(),
        name=content.name,
        media_type=content.media_type,
        file_size=content.file_size,
        content_hash=content.content_hash,
        kind=kind,
    )
    await connection.execute(SQL["insert_stages"], _stages(document, content, lane))
    await _tell(connection, outbox, document, content)
    return document


async def begin(connection: Connection, outbox: Outbox, document: DocumentRow, content: Content, lane: Lane) -> None:
    """A new version of a locked document, queued. A worker on the version before loses its lease.

    Search serves the version before until the new one is indexed.
    """
    key = {"workspace_id": document.workspace_id, "document_id": document.id}
    facts = {"media_type": content.media_type, "file_size": content.file_size, "content_hash": content.content_hash}
    await connection.execute(SQL["begin_version"], {**key, **facts, "name": content.name})
    await connection.execute(SQL["restart_stages"], _stages(document, content, lane))
    await _tell(connection, outbox, document, content)


async def page(
    connection: Connection, workspace_id: UUID, document_id: UUID, *, before: int | None, limit: int
) -> list[VersionRow]:
    """Newest first."""
    values = {"workspace_id": workspace_id, "document_id": document_id, "before": before, "limit": limit}
    async with connection.cursor(row_factory=class_row(VersionRow)) as cursor:
        await cursor.execute(SQL["list_versions"], values)
        return await cursor.fetchall()


async def readable(connection: Connection, document: DocumentRow) -> int:
    """The version that search serves, else the newest whose conversion is stored; raises NotConverted."""
    values = {
        "workspace_id": document.workspace_id,
        "document_id": document.id,
        "searchable_version": document.searchable_version,
    }
    row = await (await connection.execute(SQL["find_readable_version"], values)).fetchone()
    if row is None:
        raise NotConverted
    return int(row[0])


def _stages(document: DocumentRow, content: Content, lane: Lane) -> dict[str, object]:
    return {
        "workspace_id": document.workspace_id,
        "document_id": document.id,
        "lane": lane,
        "received_at": content.received_at,
        "traceparent": outgoing_headers().get("traceparent"),
    }


async def _tell(connection: Connection, outbox: Outbox, document: DocumentRow, content: Content) -> None:
    event = DocumentStored(
        document_id=document.id,
        name=content.name,
        object_key=original_key(document.workspace_id, content.content_hash),
        bytes=content.file_size,
        content_hash=content.content_hash,
    )
    await outbox.write(connection, document.workspace_id, event, str(document.id))
