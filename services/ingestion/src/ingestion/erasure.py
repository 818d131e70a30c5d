"""Removes the objects of deleted documents. Driven from the table: a crash in between is resumed."""

from __future__ import annotations

from psycopg.rows import class_row, scalar_row

from ingestion import deletion, documents
from ingestion.rows import DocumentKey
from ingestion.statements import SQL
from service_kit.notifications import Notifications
from service_kit.objects import ObjectStore, derived_prefix, original_key
from service_kit.postgres import Connection, Database

TICK_SECONDS = 2.0


class Eraser:
    """A background task of the API process; replicas share the work by row locks."""

    def __init__(
        self,
        database: Database,
        objects: ObjectStore,
        notifications: Notifications,
        channel: str,
        lease_seconds: float,
    ) -> None:
        self.database, self.objects, self.notifications = database, objects, notifications
        self.channel, self.lease_seconds = channel, lease_seconds

    async def run(self) -> None:
        """Runs until cancelled; wakes when a document is deleted or a worker lets go of one."""
        async with self.notifications.subscribe(self.channel) as changed:
            while True:
                await self.erase_all()
                await changed.wait(TICK_SECONDS)

    async def erase_all(self) -> None:
        """Erases what no worker holds any more."""
        async with (
            self.database.system() as connection,
            connection.cursor(row_factory=class_row(DocumentKey)) as cursor,
        ):
            await cursor.execute(SQL["erasable"], {"lease": self.lease_seconds})
            found = await cursor.fetchall()
        for key in found:
            await self._erase(key)

    async def _erase(self, document: DocumentKey) -> None:
        key = {"workspace_id": document.workspace_id, "document_id": document.document_id}
        async with self.database.workspace(document.workspace_id) as connection:
            cursor = connection.cursor(row_factory=scalar_row)
            await cursor.execute(SQL["lock_erasable"], key)
            content_hash = await cursor.fetchone()
            if content_hash is None:
                return  # another replica is at it
            removed, remaining = await self._remove_objects(connection, document, content_hash)
            await connection.execute(SQL["delete_document"], key)
            await connection.execute(SQL["mark_erased"], key)
            await deletion.confirm(connection, **key, service=deletion.SERVICE, removed=removed, remaining=remaining)

    async def _remove_objects(
        self, connection: Connection, document: DocumentKey, content_hash: str
    ) -> tuple[dict[str, int], dict[str, int]]:
        """(removed, remaining) by kind. The original stays when another document has the same bytes."""
        workspace_id = document.workspace_id
        await documents.lock_content(connection, workspace_id, content_hash)
        cursor = connection.cursor(row_factory=scalar_row)
        key = {"workspace_id": workspace_id, "document_id": document.document_id, "content_hash": content_hash}
        await cursor.execute(SQL["count_content"], key)
        prefix = derived_prefix(workspace_id, document.document_id)
        derived = await self.objects.akeys(prefix)
        originals = (
            [] if await cursor.fetchone() else await self.objects.akeys(original_key(workspace_id, content_hash))
        )
        if derived or originals:
            await self.objects.adelete([*derived, *originals])
        left = await self.objects.akeys(prefix)
        kept = await self.objects.akeys(originals[0]) if originals else []
        return (
            {"documents": 1, "originals": len(originals), "derived_objects": len(derived)},
            {"documents": 0, "originals": len(kept), "derived_objects": len(left)},
        )
