"""Removes the objects of deleted documents and of versions that no longer serve.

Driven from the tables: a crash in between is resumed.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import class_row, dict_row, scalar_row

from ingestion.documents import deletion, documents
from ingestion.documents.derived import derived_keys
from ingestion.documents.rows import DocumentKey
from ingestion.statements import SQL
from service_kit.notifications import Notifications
from service_kit.objects import ObjectStore, derived_prefix, original_key
from service_kit.postgres import Connection, Database

TICK_SECONDS = 2.0


@dataclass(frozen=True)
class VersionKey:
    workspace_id: UUID
    document_id: UUID
    version: int
    content_hash: str


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
        """Runs until cancelled; wakes when a document is deleted, a stage changes or a worker lets go of one."""
        async with self.notifications.subscribe(self.channel) as changed:
            while True:
                await self.erase_all()
                await changed.wait(TICK_SECONDS)

    async def erase_all(self) -> None:
        """Erases what no worker holds any more, and what search no longer serves."""
        async with (
            self.database.system() as connection,
            connection.cursor(row_factory=class_row(DocumentKey)) as deleted,
            connection.cursor(row_factory=class_row(VersionKey)) as superseded,
        ):
            await deleted.execute(SQL["erasable"], {"lease": self.lease_seconds})
            found = await deleted.fetchall()
            await connection.execute(SQL["supersede_versions"])
            await superseded.execute(SQL["erasable_versions"])
            versions = await superseded.fetchall()
        for key in found:
            await self._erase(key)
        for version in versions:
            await self._erase_version(version)

    async def _erase(self, document: DocumentKey) -> None:
        key = {"workspace_id": document.workspace_id, "document_id": document.document_id}
        async with self.database.workspace(document.workspace_id) as connection:
            if await (await connection.execute(SQL["lock_erasable"], key)).fetchone() is None:
                return  # another replica is at it
            kept = await (await connection.execute(SQL["list_kept_versions"], key)).fetchall()
            versions, hashes = [int(row[0]) for row in kept], {str(row[1]) for row in kept}
            prefix = derived_prefix(document.workspace_id, document.document_id)
            removed, remaining = await self._remove_objects(connection, key, versions, hashes, prefix)
            before = await _count_rows(connection, key)
            await connection.execute(SQL["delete_document"], key)
            after = await _count_rows(connection, key)
            await connection.execute(SQL["mark_erased"], key)
            counts = {kind: before[kind] - after[kind] for kind in before}
            await deletion.confirm(
                connection, **key, service=deletion.SERVICE, removed=counts | removed, remaining=after | remaining
            )

    async def _erase_version(self, one: VersionKey) -> None:
        key = {"workspace_id": one.workspace_id, "document_id": one.document_id}
        async with self.database.workspace(one.workspace_id) as connection:
            # Before the row: whoever takes a file in has them in this order, too.
            await documents.lock_content(connection, one.workspace_id, one.content_hash)
            locked = await connection.execute(SQL["lock_erasable_version"], {**key, "version": one.version})
            if await locked.fetchone() is None:
                return
            prefix = derived_keys(one.workspace_id, one.document_id, one.version).prefix
            await self._remove_objects(connection, key, [one.version], {one.content_hash}, prefix)
            await connection.execute(SQL["mark_version_erased"], {**key, "version": one.version})

    async def _remove_objects(
        self, connection: Connection, key: dict[str, UUID], versions: list[int], hashes: set[str], prefix: str
    ) -> tuple[dict[str, int], dict[str, int]]:
        """(removed, remaining) by kind. An original stays when a version other than these needs it."""
        workspace_id = key["workspace_id"]
        unused: list[str] = []
        for content_hash in sorted(hashes):
            await documents.lock_content(connection, workspace_id, content_hash)
            cursor = connection.cursor(row_factory=scalar_row)
            values = {**key, "content_hash": content_hash, "versions": versions}
            await cursor.execute(SQL["count_content"], values)
            if not await cursor.fetchone():
                unused += await self.objects.akeys(original_key(workspace_id, content_hash))
        derived = await self.objects.akeys(prefix)
        if derived or unused:
            await self.objects.adelete([*derived, *unused])
        left = await self.objects.akeys(prefix)
        kept = [one for original in unused for one in await self.objects.akeys(original)]
        return (
            {"originals": len(unused), "derived_objects": len(derived)},
            {"originals": len(kept), "derived_objects": len(left)},
        )


async def _count_rows(connection: Connection, key: dict[str, UUID]) -> dict[str, int]:
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(SQL["count_document_rows"], key)
        row = await cursor.fetchone()
    assert row is not None
    return {str(kind): int(count) for kind, count in row.items()}


async def purge_objects(objects: ObjectStore, workspace_id: UUID) -> tuple[int, int]:
    """Erases every object of a workspace; returns (removed, remaining), both counted. Raises Unavailable."""
    prefix = f"{workspace_id}/"
    found = await objects.akeys(prefix)
    if found:
        await objects.adelete(found)
    return len(found), len(await objects.akeys(prefix))
