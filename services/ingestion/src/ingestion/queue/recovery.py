"""Finds again what a worker or a stream has lost."""

from __future__ import annotations

from typing import Any

from psycopg.rows import class_row
from redis.asyncio import Redis

from contracts.events import DOCUMENTS, DocumentDeleted, DocumentFailed
from contracts.ingestion import DocumentStatus, StageName
from contracts.registry import CONFIRM_DOCUMENT_DELETION, INGESTION, STAGE_OF_SERVICE
from ingestion.documents import documents
from ingestion.documents.derived import converted_event
from ingestion.documents.rows import DocumentKey, DocumentRow
from ingestion.settings import Settings
from ingestion.sources import queue as syncs
from ingestion.statements import SQL
from service_kit.outbox import Outbox
from service_kit.postgres import Connection, Database

OTHERS = [service for service in CONFIRM_DOCUMENT_DELETION if service != INGESTION]
LOST = "The worker stopped without a sign while it worked on this document, {times} times in a row"
FORGET_WORKERS_SECONDS = 3600.0


class Recovery:
    """Part of the dispatcher's tick; harmless beside another replica's, by row locks and conditions."""

    def __init__(self, database: Database, redis: Redis, outbox: Outbox, settings: Settings) -> None:
        self.database, self.redis, self.outbox, self.settings = database, redis, outbox, settings

    async def run(self) -> None:
        await self.recover_lost_workers()
        await self.recover_lost_events()

    async def recover_lost_workers(self) -> None:
        """Queues again what a worker holds without a heartbeat; fails it when it has taken several workers down."""
        lease, losses = self.settings.lease_seconds, self.settings.max_losses
        async with (
            self.database.system() as connection,
            connection.cursor(row_factory=class_row(DocumentKey)) as cursor,
        ):
            await cursor.execute(SQL["expired_leases"], {"lease": lease})
            found = await cursor.fetchall()
            await syncs.recover_lost(connection, lease, losses)
            await connection.execute(SQL["forget_workers"], {"after": FORGET_WORKERS_SECONDS})
        for key in found:
            async with self.database.workspace(key.workspace_id) as connection:
                await self._recover(connection, key)

    async def _recover(self, connection: Connection, key: DocumentKey) -> None:
        document = await documents.lock(connection, key.workspace_id, key.document_id)
        if document is None:
            return  # it is being deleted: the eraser waits for the lease to end, not for the stage
        message = LOST.format(times=self.settings.max_losses)
        values = {
            "workspace_id": key.workspace_id,
            "document_id": key.document_id,
            "losses": self.settings.max_losses,
            "lease": self.settings.lease_seconds,
            "message": message,
        }
        rows = await (await connection.execute(SQL["recover_stages"], values)).fetchall()
        failed: StageName | None = next((name for name, status in rows if status == "failed"), None)
        if failed == "embed":
            await self._announce_unembedded(connection, document)
        elif failed:
            await documents.set_status(connection, document, DocumentStatus.failed)
            event = DocumentFailed(
                document_id=document.id,
                version=document.version,
                service="ingestion",
                stage=failed,
                error_class="worker-lost",
                error_message=message,
            )
            await self.outbox.write(connection, document.workspace_id, event, str(document.id))

    async def _announce_unembedded(self, connection: Connection, document: DocumentRow) -> None:
        """It has chunks, and is found by its words."""
        key = {"workspace_id": document.workspace_id, "document_id": document.id}
        unembedded = {"version": document.version, "embedding_model": None, "embedding_dims": None}
        await connection.execute(SQL["record_embedding"], {**key, **unembedded})
        if await (await connection.execute(SQL["is_announced"], key)).fetchone() is None:
            await connection.execute(SQL["queue_confirmations"], key)
            current = await documents.find(connection, document.workspace_id, document.id)
            await self.outbox.write(connection, document.workspace_id, converted_event(current), str(document.id))

    async def recover_lost_events(self) -> None:
        """Tells again of what has not been confirmed although its reader has nothing left to read."""
        values = {"resend_after": self.settings.reannounce_after_seconds}
        for group, stage in STAGE_OF_SERVICE.items():
            for key in await self._unanswered("unanswered_announcements", {**values, "name": stage}, group):
                await self._announce_again(key, stage, values)
        for key in await self._unanswered("unanswered_deletions", values, *OTHERS):
            ids = {"workspace_id": key.workspace_id, "document_id": key.document_id}
            async with self.database.workspace(key.workspace_id) as connection:
                if (await connection.execute(SQL["deletion_announced_again"], {**ids, **values})).rowcount:
                    event = DocumentDeleted(document_id=key.document_id)
                    await self.outbox.write(connection, key.workspace_id, event, str(key.document_id))

    async def _unanswered(self, statement: str, values: dict[str, Any], *groups: str) -> list[DocumentKey]:
        async with self.database.system() as connection:
            rows = await (await connection.execute(SQL[statement], values)).fetchall()
        if not rows or not all([await self._is_idle(group) for group in groups]):
            return []
        return [DocumentKey(row[0], row[1]) for row in rows]

    async def _announce_again(self, key: DocumentKey, stage: str, values: dict[str, Any]) -> None:
        ids = {"workspace_id": key.workspace_id, "document_id": key.document_id}
        async with self.database.workspace(key.workspace_id) as connection:
            document = await documents.lock(connection, key.workspace_id, key.document_id)
            again = await connection.execute(SQL["announced_again"], {**ids, **values, "name": stage})
            if document and again.rowcount:
                await self.outbox.write(connection, key.workspace_id, converted_event(document), str(document.id))

    async def _is_idle(self, group: str) -> bool:
        """True when the group has read and handled all of the stream, or the stream is gone with Redis' data."""
        if not await self.redis.exists(DOCUMENTS):
            return True
        for found in await self.redis.xinfo_groups(DOCUMENTS):
            if _text(found["name"]) == group:
                return int(found["pending"]) == 0 and found["lag"] == 0
        return False  # it has not started yet, and will read from the beginning


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value
