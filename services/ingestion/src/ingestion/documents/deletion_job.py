"""Deletes the rows and objects of deleted documents, and the objects of versions that search no longer serves.

It works from the tables, so that it resumes after a crash.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import LiteralString
from uuid import UUID

from contracts.object_keys import derived_prefix, original_key
from contracts.registry import INGESTION
from ingestion.documents.catalog import Catalog, Catalogs
from ingestion.documents.derived_objects import derived_keys
from ingestion.documents.rows import DocumentKey
from service_kit.notifications import Notifications
from service_kit.objects import ObjectStore
from service_kit.repository import Repository, SystemRepository
from service_kit.statements import Statements

TICK_SECONDS = 2.0


class DeletionJobSql(Statements, file="deletion_job.sql"):
    due: LiteralString
    lock: LiteralString
    kept_versions: LiteralString
    count_content: LiteralString
    count_rows: LiteralString
    delete_document: LiteralString
    mark_done: LiteralString
    supersede_versions: LiteralString
    superseded_versions: LiteralString
    lock_version: LiteralString
    mark_version_done: LiteralString


@dataclass(frozen=True)
class VersionKey:
    workspace_id: UUID
    document_id: UUID
    version: int
    content_hash: str


@dataclass(frozen=True)
class StoredVersion:
    version: int
    content_hash: str


@dataclass(frozen=True)
class DocumentRowCounts:
    documents: int
    versions: int
    stages: int


@dataclass(frozen=True)
class DeletedObjects:
    removed: dict[str, int]
    remaining: dict[str, int]


class DeletionJob:
    """A background task of the API process; replicas share the work through row locks."""

    def __init__(self, catalogs: Catalogs, objects: ObjectStore, notifications: Notifications, channel: str) -> None:
        self.catalogs, self.objects, self.notifications, self.channel = catalogs, objects, notifications, channel

    async def run(self) -> None:
        """Runs until cancelled; wakes when a document is deleted, or a stage changes or is released."""
        async with self.notifications.subscribe(self.channel) as changed:
            while True:
                await self.delete_due()
                await changed.wait(TICK_SECONDS)

    async def delete_due(self) -> None:
        """Deletes documents that no worker holds any longer, and versions that search no longer serves."""
        async with self.catalogs.database.system() as connection:
            queue = SystemRepository(connection)
            documents = await queue.all(DeletionJobSql.due, DocumentKey)
            await queue.run(DeletionJobSql.supersede_versions)
            versions = await queue.all(DeletionJobSql.superseded_versions, VersionKey)
        for document in documents:
            async with self.catalogs.open(document.workspace_id) as catalog:
                await self._delete_document(catalog, document.document_id)
        for version in versions:
            async with self.catalogs.open(version.workspace_id) as catalog:
                await self._delete_version(catalog, version)

    async def _delete_document(self, catalog: Catalog, document_id: UUID) -> None:
        rows = Repository(catalog.connection, catalog.workspace_id)
        key = {"document_id": document_id}
        if await rows.run(DeletionJobSql.lock, **key) == 0:
            return  # another replica is deleting it
        kept = await rows.all(DeletionJobSql.kept_versions, StoredVersion, **key)
        prefix = derived_prefix(catalog.workspace_id, document_id)
        versions, hashes = [one.version for one in kept], {one.content_hash for one in kept}
        objects = await self._delete_objects(catalog, document_id, versions, hashes, prefix)
        before = await _count_rows(rows, document_id)
        await rows.run(DeletionJobSql.delete_document, **key)
        remaining = await _count_rows(rows, document_id)
        await rows.run(DeletionJobSql.mark_done, **key)
        removed = {kind: count - remaining[kind] for kind, count in before.items()}
        await catalog.deletions.confirm(
            document_id, INGESTION, {**removed, **objects.removed}, {**remaining, **objects.remaining}
        )

    async def _delete_version(self, catalog: Catalog, version: VersionKey) -> None:
        rows = Repository(catalog.connection, catalog.workspace_id)
        key = {"document_id": version.document_id, "version": version.version}
        # The content before the row, the order in which the intake locks.
        await catalog.documents.lock_content(version.content_hash)
        if await rows.run(DeletionJobSql.lock_version, **key) == 0:
            return
        prefix = derived_keys(version.workspace_id, version.document_id, version.version).prefix
        await self._delete_objects(catalog, version.document_id, [version.version], {version.content_hash}, prefix)
        await rows.run(DeletionJobSql.mark_version_done, **key)

    async def _delete_objects(
        self, catalog: Catalog, document_id: UUID, versions: Sequence[int], hashes: Collection[str], prefix: str
    ) -> DeletedObjects:
        """Deletes the versions' objects and counts them by kind. An original that another version needs is kept."""
        rows = Repository(catalog.connection, catalog.workspace_id)
        unused: list[str] = []
        for content_hash in sorted(hashes):
            await catalog.documents.lock_content(content_hash)
            key = {"document_id": document_id, "content_hash": content_hash, "versions": list(versions)}
            if not await rows.value(DeletionJobSql.count_content, **key):
                unused += await self.objects.akeys(original_key(catalog.workspace_id, content_hash))
        derived = await self.objects.akeys(prefix)
        if derived or unused:
            await self.objects.adelete([*derived, *unused])
        left = await self.objects.akeys(prefix)
        kept = [one for original in unused for one in await self.objects.akeys(original)]
        return DeletedObjects(
            {"originals": len(unused), "derived_objects": len(derived)},
            {"originals": len(kept), "derived_objects": len(left)},
        )


async def _count_rows(rows: Repository, document_id: UUID) -> dict[str, int]:
    counted = await rows.one(DeletionJobSql.count_rows, DocumentRowCounts, document_id=document_id)
    assert counted is not None
    return asdict(counted)


async def delete_workspace_objects(objects: ObjectStore, workspace_id: UUID) -> tuple[int, int]:
    """Deletes every object of a workspace; returns the counts (removed, remaining). Raises Unavailable."""
    prefix = f"{workspace_id}/"
    found = await objects.akeys(prefix)
    if found:
        await objects.adelete(found)
    return len(found), len(await objects.akeys(prefix))
