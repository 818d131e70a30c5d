"""Deletes the rows and objects of deleted documents, and the objects of versions that search no longer serves.

It works from the tables, so that it resumes after a crash.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import LiteralString
from uuid import UUID

from contracts.object_keys import derived_prefix, original_key
from contracts.registry import INGESTION
from ingestion.documents.catalog import Catalog, Catalogs
from ingestion.documents.deletions import Confirmation
from ingestion.documents.derived_objects import derived_keys
from ingestion.documents.rows import DocumentKey
from service_kit.notifications import Notifications
from service_kit.objects import ObjectStore
from service_kit.repository import Repository, SystemRepository
from service_kit.statements import Statements

TICK_SECONDS, CALM_SECONDS = 2.0, 0.3
ORIGINALS, DERIVED = "originals", "derived_objects"
AT_ONCE = 100
"""Documents deleted in one transaction, which also waits for the object store."""


class DeletionJobSql(Statements, file="deletion_job.sql"):
    due: LiteralString
    lock: LiteralString
    kept_versions: LiteralString
    needed_contents: LiteralString
    count_rows: LiteralString
    delete_documents: LiteralString
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
    document_id: UUID
    content_hash: str


@dataclass(frozen=True)
class DocumentRowCounts:
    document_id: UUID
    documents: int
    versions: int
    stages: int

    @property
    def by_kind(self) -> dict[str, int]:
        return {"documents": self.documents, "versions": self.versions, "stages": self.stages}


class DeletionJob:
    """A background task of the API process; replicas share the work through row locks."""

    def __init__(self, catalogs: Catalogs, objects: ObjectStore, notifications: Notifications, channel: str) -> None:
        self.catalogs, self.objects, self.notifications, self.channel = catalogs, objects, notifications, channel

    async def run(self) -> None:
        """Runs until cancelled; wakes when documents are deleted, or a worker releases a stage."""
        async with self.notifications.subscribe(self.channel) as changed:
            while True:
                if await self.delete_due() < AT_ONCE:
                    await asyncio.sleep(CALM_SECONDS)  # those that are deleted meanwhile are deleted together
                    await changed.wait(TICK_SECONDS)

    async def delete_due(self) -> int:
        """Deletes documents that no worker holds any longer, and versions that search no longer serves.

        Returns how many documents it deleted; there may be more after AT_ONCE.
        """
        async with self.catalogs.database.system() as connection:
            queue = SystemRepository(connection)
            documents = await queue.all(DeletionJobSql.due, DocumentKey, limit=AT_ONCE)
            await queue.run(DeletionJobSql.supersede_versions)
            versions = await queue.all(DeletionJobSql.superseded_versions, VersionKey)
        by_workspace: defaultdict[UUID, list[UUID]] = defaultdict(list)
        for document in documents:
            by_workspace[document.workspace_id].append(document.document_id)
        deleted = 0
        for workspace_id, document_ids in by_workspace.items():
            async with self.catalogs.open(workspace_id) as catalog:
                deleted += await self._delete_documents(catalog, document_ids)
        for version in versions:
            async with self.catalogs.open(version.workspace_id) as catalog:
                await self._delete_version(catalog, version)
        return deleted

    async def _delete_documents(self, catalog: Catalog, document_ids: Sequence[UUID]) -> int:
        rows = Repository(catalog.connection, catalog.workspace_id)
        locked: list[UUID] = await rows.values(DeletionJobSql.lock, document_ids=list(document_ids))
        if not locked:
            return 0
        kept = await rows.all(DeletionJobSql.kept_versions, StoredVersion, document_ids=locked)
        derived = {one: derived_prefix(catalog.workspace_id, one) for one in locked}
        contents = {one.content_hash: one.document_id for one in kept}
        objects = await self._delete_objects(catalog, derived, contents)
        before = await _count_rows(rows, locked)
        await rows.run(DeletionJobSql.delete_documents, document_ids=locked)
        remaining = await _count_rows(rows, locked)
        await rows.run(DeletionJobSql.mark_done, document_ids=locked)
        await catalog.deletions.confirm(
            [
                Confirmation(
                    one,
                    INGESTION,
                    {kind: count - remaining[one][kind] for kind, count in before[one].items()} | objects[one],
                    remaining[one] | dict.fromkeys(objects[one], 0),
                )
                for one in locked
            ]
        )
        return len(locked)

    async def _delete_version(self, catalog: Catalog, version: VersionKey) -> None:
        rows = Repository(catalog.connection, catalog.workspace_id)
        key = {"document_id": version.document_id, "version": version.version}
        # The content before the row, the order in which the intake locks.
        await catalog.documents.lock_contents([version.content_hash])
        if await rows.run(DeletionJobSql.lock_version, **key) == 0:
            return
        prefix = derived_keys(version.workspace_id, version.document_id, version.version).prefix
        owned = version.document_id
        await self._delete_objects(catalog, {owned: prefix}, {version.content_hash: owned}, version)
        await rows.run(DeletionJobSql.mark_version_done, **key)

    async def _delete_objects(
        self,
        catalog: Catalog,
        derived: Mapping[UUID, str],
        contents: Mapping[str, UUID],
        version: VersionKey | None = None,
    ) -> dict[UUID, dict[str, int]]:
        """Deletes the objects below the prefixes and the originals of the contents, which are those of deleted
        documents, or of one `version`. An original that another version needs is kept.

        Returns how many, by document and kind. None remains, because the store confirms each: raises Unavailable.
        """
        rows = Repository(catalog.connection, catalog.workspace_id)
        hashes = sorted(contents)
        await catalog.documents.lock_contents(hashes)
        but = {"document_id": version and version.document_id, "version": version and version.version}
        needed = set(await rows.values(DeletionJobSql.needed_contents, contents=hashes, **but))
        unneeded = [one for one in hashes if one not in needed]
        originals = Counter(contents[one] for one in unneeded)
        found = await asyncio.gather(*(self.objects.akeys(prefix) for prefix in derived.values()))
        keys = [original_key(catalog.workspace_id, one) for one in unneeded]
        if keys := [*keys, *chain.from_iterable(found)]:
            await self.objects.adelete(keys)
        return {one: {ORIGINALS: originals[one], DERIVED: len(some)} for one, some in zip(derived, found, strict=True)}


async def _count_rows(rows: Repository, document_ids: Sequence[UUID]) -> dict[UUID, dict[str, int]]:
    counted = await rows.all(DeletionJobSql.count_rows, DocumentRowCounts, document_ids=list(document_ids))
    return {one.document_id: one.by_kind for one in counted}


async def delete_workspace_objects(objects: ObjectStore, workspace_id: UUID) -> tuple[int, int]:
    """Deletes every object of a workspace; returns the counts (removed, remaining). Raises Unavailable."""
    prefix = f"{workspace_id}/"
    found = await objects.akeys(prefix)
    if found:
        await objects.adelete(found)
    return len(found), len(await objects.akeys(prefix))
