"""Reads and writes the places that documents come from, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from contracts.ingestion import OriginKind
from ingestion.documents.derived import described_event
from ingestion.documents.rows import UNKEYED, DocumentRow, OriginRow
from ingestion.statements import SQL
from service_kit.outbox import Outbox
from service_kit.postgres import Connection

SHOWN = 200


@dataclass(frozen=True)
class Place:
    """Where a file comes from: `path` is unique among those of its source, or of its kind where there is no source.

    `fingerprint` is what the source tells of unchanged content without reading it. The name of the source that a
    document shows is that of the row `source`.
    """

    kind: OriginKind
    source_id: UUID | None
    path: str
    uri: str | None = None
    fingerprint: str | None = None

    @classmethod
    def of_content(cls, content_hash: str, within: str | None = None) -> Place:
        """Of an upload without a key: known by its bytes, and by its path `within` an archive."""
        return cls(OriginKind.upload, None, f"{UNKEYED}{content_hash}" + (f"/{within}" if within else ""))


async def lock_place(connection: Connection, workspace_id: UUID, place: Place | OriginRow) -> None:
    """Held until the transaction ends. Locks have one order: place, source, content, document."""
    await connection.execute(SQL["lock_place"], _at(workspace_id, place))


async def lock_source(connection: Connection, workspace_id: UUID, source_id: UUID) -> bool:
    """False when the source was deleted; otherwise it cannot be before the transaction ends."""
    values = {"workspace_id": workspace_id, "source_id": source_id}
    return (await connection.execute(SQL["lock_source"], values)).rowcount == 1


async def at(connection: Connection, workspace_id: UUID, place: Place) -> OriginRow | None:
    async with connection.cursor(row_factory=class_row(OriginRow)) as cursor:
        await cursor.execute(SQL["find_origin"], _at(workspace_id, place))
        return await cursor.fetchone()


async def find(connection: Connection, workspace_id: UUID, origin_id: UUID) -> OriginRow | None:
    async with connection.cursor(row_factory=class_row(OriginRow)) as cursor:
        await cursor.execute(SQL["find_origin_by_id"], {"workspace_id": workspace_id, "origin_id": origin_id})
        return await cursor.fetchone()


async def of_document(
    connection: Connection, workspace_id: UUID, document_id: UUID, limit: int = SHOWN
) -> list[OriginRow]:
    """The first ones, oldest first."""
    values = {"workspace_id": workspace_id, "document_id": document_id, "limit": limit}
    async with connection.cursor(row_factory=class_row(OriginRow)) as cursor:
        await cursor.execute(SQL["list_origins"], values)
        return await cursor.fetchall()


async def count(connection: Connection, workspace_id: UUID, document_id: UUID) -> int:
    cursor = connection.cursor(row_factory=scalar_row)
    await cursor.execute(SQL["count_origins"], {"workspace_id": workspace_id, "document_id": document_id})
    return int(await cursor.fetchone() or 0)


async def is_excluded(connection: Connection, workspace_id: UUID, source_id: UUID, content_hash: str) -> bool:
    """True when a user deleted what the source has under another path."""
    cursor = connection.cursor(row_factory=scalar_row)
    values = {"workspace_id": workspace_id, "source_id": source_id, "content_hash": content_hash}
    await cursor.execute(SQL["is_excluded_content"], values)
    return bool(await cursor.fetchone())


async def write(
    connection: Connection,
    workspace_id: UUID,
    origin_id: UUID,
    place: Place,
    *,
    name: str,
    content_hash: str,
    document_id: UUID | None,
) -> None:
    """The place has this file; without a document it is excluded."""
    values = {
        **_at(workspace_id, place),
        "origin_id": origin_id,
        "uri": place.uri,
        "fingerprint": place.fingerprint,
        "name": name,
        "content_hash": content_hash,
        "document_id": document_id,
        "excluded": document_id is None,
    }
    await connection.execute(SQL["write_origin"], values)


async def describe(connection: Connection, outbox: Outbox, workspace_id: UUID, document_ids: Sequence[UUID]) -> None:
    """Enters what the locked documents show of their origins, and tells when it changes what others know of them."""
    values = {"workspace_id": workspace_id, "document_ids": list(document_ids)}
    rows = await (await connection.execute(SQL["describe_documents"], values)).fetchall()
    for document_id in [document_id for document_id, changed in rows if changed]:
        async with connection.cursor(row_factory=class_row(DocumentRow)) as cursor:
            await cursor.execute(SQL["find_document"], {"workspace_id": workspace_id, "document_id": document_id})
            document = await cursor.fetchone()
        if document is not None:
            await outbox.write(connection, workspace_id, described_event(document), str(document_id))


def _at(workspace_id: UUID, place: Place | OriginRow) -> dict[str, object]:
    return {
        "workspace_id": workspace_id,
        "source_id": place.source_id,
        "kind": place.kind.value,
        "path": place.path,
    }
