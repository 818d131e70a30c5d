"""Sends queued stages to the workers, and finds again what a worker, the broker or a stream has lost.

One mechanism for both: the table says what is to be done, a message is only a hint. A message too many is a no-op,
because a worker must lease the stage; a message too few is noticed and sent again.
"""

from __future__ import annotations

import asyncio
from typing import Any

from celery import Celery
from psycopg.rows import class_row, scalar_row
from redis.asyncio import Redis

from contracts.events import DOCUMENTS, DocumentDeleted, DocumentFailed
from contracts.ingestion import DocumentStatus
from ingestion import documents
from ingestion.celery_app import QUEUE, TASK
from ingestion.derived import converted_event
from ingestion.rows import DocumentKey
from ingestion.settings import Settings
from ingestion.statements import SQL
from service_kit.notifications import Notifications
from service_kit.outbox import Outbox
from service_kit.postgres import Connection, Database

BATCH = 100
TICK_SECONDS = 1.0
CONFIRMED_BY = {"index": "retrieval", "graph": "knowledge-graph"}
LOST = "The worker stopped without a sign while it worked on this document, {times} times in a row"


class Dispatcher:
    """A background task of the API process; replicas pass over each other's rows."""

    def __init__(
        self,
        database: Database,
        redis: Redis,
        celery: Celery,
        outbox: Outbox,
        notifications: Notifications,
        channel: str,
        settings: Settings,
    ) -> None:
        self.database, self.redis, self.celery, self.outbox = database, redis, celery, outbox
        self.notifications, self.channel, self.settings = notifications, channel, settings

    async def run(self) -> None:
        """Runs until cancelled; wakes at once when a stage is queued, and looks for losses at every tick."""
        loop = asyncio.get_running_loop()
        next_look = 0.0
        async with self.notifications.subscribe(self.channel) as queued:
            while True:
                if loop.time() >= next_look:
                    await self.recover_lost_workers()
                    await self.recover_lost_messages()
                    await self.recover_lost_events()
                    next_look = loop.time() + TICK_SECONDS
                if await self.dispatch() < BATCH:
                    await queued.wait(TICK_SECONDS)

    async def dispatch(self) -> int:
        """Sends up to BATCH due stages, oldest first; returns how many."""
        async with self.database.system() as connection:
            rows = await (await connection.execute(SQL["claim_dispatch"], {"limit": BATCH})).fetchall()
            # Before the commit: when the broker is away nothing is marked as sent.
            await asyncio.to_thread(self._send_all, rows)
        return len(rows)

    def _send_all(self, rows: list[tuple[Any, ...]]) -> None:
        with self.celery.connection_for_write() as broker:
            for workspace_id, document_id, traceparent, _ in sorted(rows, key=lambda row: row[3]):
                ids = {"workspace_id": str(workspace_id), "document_id": str(document_id)}
                self.celery.send_task(
                    TASK, kwargs={**ids, "traceparent": traceparent}, connection=broker, retry=False, ignore_result=True
                )

    async def recover_lost_workers(self) -> None:
        """Queues again what a worker holds without a heartbeat; fails it when it has taken several workers down."""
        async with (
            self.database.system() as connection,
            connection.cursor(row_factory=class_row(DocumentKey)) as cursor,
        ):
            await cursor.execute(SQL["expired_leases"], {"lease": self.settings.lease_seconds})
            found = await cursor.fetchall()
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
        failed = next((name for name, status in rows if status == "failed"), None)
        if failed:
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

    async def recover_lost_messages(self) -> None:
        """Sends again when the broker holds fewer messages than there are stages that it was given and nobody took.

        Which ones it lost cannot be told, so all that have waited for a while are sent again.
        """
        waiting = int(await self.redis.llen(QUEUE))
        values = {"resend_after": self.settings.resend_after_seconds}
        async with self.database.system() as connection:
            cursor = connection.cursor(row_factory=scalar_row)
            await cursor.execute(SQL["count_dispatched"], values)
            if int(await cursor.fetchone() or 0) > waiting:
                await connection.execute(SQL["forget_dispatch"], values)

    async def recover_lost_events(self) -> None:
        """Tells again of what has not been confirmed although its reader has nothing left to read."""
        values = {"resend_after": self.settings.reannounce_after_seconds}
        for stage, group in CONFIRMED_BY.items():
            for key in await self._unanswered("unanswered_announcements", {**values, "name": stage}, group):
                await self._announce_again(key, stage, values)
        for key in await self._unanswered("unanswered_deletions", values, *CONFIRMED_BY.values(), "memory"):
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
