"""Runs a failed document again, from the stage that failed."""

from __future__ import annotations

from contracts.ingestion import DocumentStatus, StageStatus
from ingestion import documents
from ingestion.derived import converted_event
from ingestion.errors import NothingToRetry
from ingestion.rows import DocumentRow
from service_kit.outbox import Outbox
from service_kit.postgres import Connection


async def retry_failed(connection: Connection, outbox: Outbox, document: DocumentRow) -> None:
    """Queues the failed stages of a locked document; raises NothingToRetry when there is none.

    Converted and chunks are stored together: when chunking failed, conversion runs again. Indexing and the graph are
    done elsewhere: they are told of the document again.
    """
    rows = await documents.stages(connection, document.workspace_id, document.id)
    failed = {row.name for row in rows if row.status is StageStatus.failed}
    if not failed:
        raise NothingToRetry
    if failed & {"convert", "chunk"}:
        await documents.requeue(connection, document, "convert")
        await documents.reset(connection, document, "chunk")
    elif "embed" in failed:
        await documents.requeue(connection, document, "embed")
    else:
        for name in ("index", "graph"):
            if name in failed:
                await documents.requeue(connection, document, name)
        await outbox.write(connection, document.workspace_id, converted_event(document), str(document.id))
    if failed != {"graph"}:
        await documents.set_status(connection, document, DocumentStatus.processing)
