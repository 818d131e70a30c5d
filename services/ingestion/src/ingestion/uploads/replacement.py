"""Replaces the content of an uploaded document: a new version, made by its id instead of by its place."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid4

from contracts.ingestion import Lane
from ingestion.documents import documents, origins, versions
from ingestion.documents.errors import ComesFromSource, ContentExists
from ingestion.documents.incoming_files import IncomingFile, Refused, Taken, accepted
from ingestion.documents.intake import Intake
from ingestion.documents.origins import Place
from ingestion.documents.retry import revive
from ingestion.documents.rows import DocumentRow, OriginRow
from ingestion.documents.versions import Content
from ingestion.statements import SQL
from service_kit.postgres import Connection
from service_kit.problems import PreconditionFailed


async def replace(
    intake: Intake, workspace_id: UUID, document_id: UUID, file: IncomingFile, expected_version: int | None
) -> Taken:
    """A new version of an uploaded document; `unchanged` when it has these bytes already.

    Raises DocumentNotFound, PreconditionFailed, ContentExists, and ComesFromSource when a source keeps it.
    """
    content = accepted(file, intake.limits)
    if isinstance(content, Refused):
        return Taken("refused", refused=content)
    await intake.originals.store(workspace_id, file.path, content)
    async with intake.database.workspace(workspace_id) as connection:
        await documents.lock_content(connection, workspace_id, content.content_hash)
        document = await documents.find(connection, workspace_id, document_id, for_update=True)
        if expected_version not in (None, document.version):
            raise PreconditionFailed(f"the document's version is {document.version}")
        if document.content_hash == content.content_hash:
            await revive(connection, intake.outbox, document, Lane.interactive)
            return Taken("unchanged", await documents.find(connection, workspace_id, document_id))
        known = await origins.of_document(connection, workspace_id, document_id)
        if any(one.source_id for one in known):
            raise ComesFromSource
        if same := await documents.find_by_hash(connection, workspace_id, content.content_hash):
            raise ContentExists(document_id=str(same.id))
        await intake.originals.store_if_erased(workspace_id, file.path, content)
        await versions.begin(connection, intake.outbox, document, content, Lane.interactive)
        await _keep_origins(connection, document, content, known)
        await origins.describe(connection, intake.outbox, workspace_id, [document_id])
        return Taken("new_version", await documents.find(connection, workspace_id, document_id))


async def _keep_origins(
    connection: Connection, document: DocumentRow, content: Content, known: Sequence[OriginRow]
) -> None:
    """Its keys now stand for the new bytes; without a key it is known by them."""
    workspace_id = document.workspace_id
    key = {"workspace_id": workspace_id, "document_id": document.id}
    await connection.execute(SQL["delete_unkeyed_origins"], key)
    keyed = [(one.id, Place(one.kind, None, one.path, one.uri)) for one in known if not one.is_unkeyed]
    for origin_id, place in keyed or [(uuid4(), Place.of_content(content.content_hash))]:
        await origins.write(
            connection,
            workspace_id,
            origin_id,
            place,
            name=content.name,
            content_hash=content.content_hash,
            document_id=document.id,
        )
