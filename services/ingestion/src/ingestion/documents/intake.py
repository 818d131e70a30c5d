"""Takes in files: uploads in the API process, and files of sources in a worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from contracts.ingestion import DocumentStatus, Lane, OriginKind
from contracts.sources import OnRemoved
from ingestion.documents.actions import retry_ended
from ingestion.documents.catalog import Catalog, Catalogs
from ingestion.documents.documents import Content
from ingestion.documents.errors import ComesFromSource, ContentExists
from ingestion.documents.incoming_files import Change, IncomingFile, IntakeLimits, Taken, accepted
from ingestion.documents.original_storage import OriginalStorage
from ingestion.documents.origins import Provenance
from ingestion.documents.refusals import Refused
from ingestion.documents.rows import DocumentRow, OriginRow
from service_kit.objects import ObjectStore
from service_kit.outbox import Outbox
from service_kit.postgres import Database
from service_kit.problems import PreconditionFailed, WorkspaceGone

Dropped = Literal["deleted", "unlinked", "stale", "unknown"]
UPLOADED = frozenset({OriginKind.upload, OriginKind.artifact})


class SourceGone(Exception):
    """The source was deleted; no more files are taken from it."""


class _Moved(Exception):
    """The origin changed before its documents were locked; the intake starts over."""


class _OverQuota(Exception):
    """The file would exceed the workspace's quota; nothing was changed."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.message)
        self.refused = refused


@dataclass(frozen=True)
class Situation:
    """The rows that concern an incoming file, once they are locked.

    `current` is the document at the file's place, `same` the document with its bytes. `is_shared` says that `current`
    has other origins.
    """

    is_excluded: bool = False
    current: DocumentRow | None = None
    same: DocumentRow | None = None
    is_shared: bool = False


def outcome(situation: Situation) -> Change:
    """Decides what becomes of a file. Equal bytes are one document, even if several callers send them at once.

    Different bytes at a known place are a new version of its document, or a new document if that has other origins.
    """
    current, same = situation.current, situation.same
    if situation.is_excluded:
        return "excluded"
    if same:
        return "unchanged" if current and current.id == same.id else "linked"
    return "new_version" if current and not situation.is_shared else "created"


class Intake:
    """Takes in, replaces and drops files, in short transactions. All methods raise Unavailable if a store is down."""

    def __init__(self, database: Database, objects: ObjectStore, outbox: Outbox, limits: IntakeLimits) -> None:
        self.catalogs, self.limits = Catalogs(database, outbox), limits
        self.originals = OriginalStorage(database, objects)

    async def take(self, workspace_id: UUID, file: IncomingFile, place: Provenance, lane: Lane) -> Taken:
        """Takes in a file as `outcome` decides; refuses it over the quota. Raises SourceGone and WorkspaceGone."""
        content = accepted(file, self.limits)
        if isinstance(content, Refused):
            return Taken("refused", refused=content)
        await self.originals.store_large(workspace_id, content)
        while True:
            try:
                async with self.catalogs.open(workspace_id) as catalog:
                    return await self._take(catalog, content, place, lane)
            except _Moved:
                continue
            except _OverQuota as error:
                return await self._refused(workspace_id, content, error.refused)
            except WorkspaceGone:
                await self.originals.delete(workspace_id, content)
                raise

    async def replace(
        self, workspace_id: UUID, document_id: UUID, file: IncomingFile, expected_version: int | None
    ) -> Taken:
        """Gives an uploaded document a new version, unless it has these bytes already; refuses it over the quota.

        Raises DocumentNotFound, PreconditionFailed, ContentExists, and ComesFromSource if the document has a source.
        """
        content = accepted(file, self.limits)
        if isinstance(content, Refused):
            return Taken("refused", refused=content)
        await self.originals.store_large(workspace_id, content)
        try:
            async with self.catalogs.open(workspace_id) as catalog:
                return await self._replace(catalog, document_id, content, expected_version)
        except _OverQuota as error:
            return await self._refused(workspace_id, content, error.refused)

    async def drop(self, workspace_id: UUID, origin_id: UUID, on_removed: OnRemoved) -> Dropped:
        """Records that a place no longer has a file. Take new files first, so that a moved file is recognised."""
        async with self.catalogs.open(workspace_id) as catalog:
            place = await catalog.origins.find(origin_id)
            if place is None:
                return "unknown"
            await catalog.origins.lock_place(place)
            document = await catalog.documents.lock(place.document_id) if place.document_id else None
            origin = await catalog.origins.find(origin_id)
            if origin is None:
                return "unknown"
            if document is None or origin.document_id != document.id:
                await catalog.origins.delete(origin_id)
                return "unlinked"
            if on_removed is OnRemoved.mark_stale:
                await catalog.origins.miss(origin_id)
                await catalog.describe([document.id])
                return "stale"
            await catalog.origins.delete(origin_id)
            return "deleted" if await catalog.delete_without_origin(document.id) else "unlinked"

    async def seen(self, workspace_id: UUID, origin_ids: Sequence[UUID]) -> None:
        """Records that places still have the same files; one call may pass thousands of ids."""
        async with self.catalogs.open(workspace_id) as catalog:
            await catalog.origins.see(origin_ids)

    async def queued_bytes(self, workspace_id: UUID, lane: Lane) -> int:
        """Returns the total size of the files that are queued for conversion."""
        async with self.catalogs.open(workspace_id) as catalog:
            return await catalog.stages.count_queued_bytes(lane)

    async def has_room(self, workspace_id: UUID, lane: Lane) -> bool:
        """Returns False while the lane's queued files fill `max_queued_bytes`."""
        return await self.queued_bytes(workspace_id, lane) < self.limits.max_queued_bytes

    async def _replace(
        self, catalog: Catalog, document_id: UUID, content: Content, expected_version: int | None
    ) -> Taken:
        await catalog.documents.lock_content(content.content_hash)
        document = await catalog.documents.lock_existing(document_id)
        if expected_version not in (None, document.version):
            raise PreconditionFailed(f"the document's version is {document.version}")
        if document.content_hash == content.content_hash:
            await self._restore(document, content)
            await retry_ended(catalog, document, Lane.interactive)
            return Taken("unchanged", await catalog.documents.find(document_id))
        known = await catalog.origins.of_document(document_id)
        if any(origin.source_id for origin in known):
            raise ComesFromSource
        if same := await catalog.documents.find_by_hash(content.content_hash):
            raise ContentExists(document_id=str(same.id))
        await self.originals.store_if_missing(catalog.workspace_id, content)
        await self._require_room(catalog, 0, content.file_size - document.file_size)
        await catalog.begin_version(document_id, content, Lane.interactive)
        await _move_origins(catalog, document_id, content, known)
        [described] = await catalog.describe([document_id])
        return Taken("new_version", described)

    async def _take(self, catalog: Catalog, content: Content, place: Provenance, lane: Lane) -> Taken:
        await catalog.origins.lock_place(place)
        if place.source_id and not await catalog.origins.lock_source(place.source_id):
            raise SourceGone
        await catalog.documents.lock_content(content.content_hash)
        origin = await catalog.origins.at(place)
        situation = await _situation(catalog, content, place, origin)
        change = outcome(situation)
        document_id = await self._enter(catalog, change, situation, content, place.kind, lane)
        origin_id = await catalog.origins.write(
            place,
            # An upload without a key keeps the name under which its bytes first arrived.
            name=origin.name if origin and origin.is_unkeyed else content.name,
            content_hash=content.content_hash,
            document_id=document_id,
            origin_id=origin.id if origin else None,
        )
        if document_id is None:
            return Taken(change, origin_id=origin_id)
        [document] = await catalog.describe([document_id])
        if situation.current and situation.current.id != document_id:
            await catalog.delete_without_origin(situation.current.id)
        return Taken(change, document, origin_id)

    async def _restore(self, document: DocumentRow, content: Content) -> None:
        """Stores the original of a failed document again, because it may be lost."""
        if document.status is DocumentStatus.failed:
            await self.originals.store_if_missing(document.workspace_id, content)

    async def _require_room(self, catalog: Catalog, documents: int, size: int) -> None:
        """Raises _OverQuota unless the workspace may grow by this many documents and bytes."""
        if refused := await catalog.quotas.refusal(self.limits, documents, size):
            raise _OverQuota(refused)

    async def _refused(self, workspace_id: UUID, content: Content, refused: Refused) -> Taken:
        """Deletes the original that was stored for a refused file, unless a version has the same bytes."""
        async with self.catalogs.open(workspace_id) as catalog:
            await catalog.documents.lock_content(content.content_hash)
            if not await catalog.quotas.needs_content(content.content_hash):
                await self.originals.delete(workspace_id, content)
        return Taken("refused", refused=refused)

    async def _enter(
        self,
        catalog: Catalog,
        change: Change,
        situation: Situation,
        content: Content,
        kind: OriginKind,
        lane: Lane,
    ) -> UUID | None:
        """Carries out the `change`; returns the document that now belongs to the place, None if it is excluded."""
        current, same = situation.current, situation.same
        if change == "excluded":
            return None
        if same:
            await self._restore(same, content)
            if kind in UPLOADED:  # a user is waiting for it, so it goes before the files of sources
                await retry_ended(catalog, same, lane)
                if lane is Lane.interactive:
                    await catalog.stages.hasten(same.id)
            return same.id
        await self.originals.store_if_missing(catalog.workspace_id, content)
        if current and change == "new_version":
            await self._require_room(catalog, 0, content.file_size - current.file_size)
            await catalog.begin_version(current.id, content, lane)
            return current.id
        await self._require_room(catalog, 1, content.file_size)
        return await catalog.create(content, kind, lane)


async def _situation(catalog: Catalog, content: Content, place: Provenance, origin: OriginRow | None) -> Situation:
    """Locks the place's document and the document with these bytes, in the order of their ids; raises _Moved."""
    if await _is_excluded(catalog, content, place, origin):
        return Situation(is_excluded=True)
    found = await catalog.documents.find_by_hash(content.content_hash)
    wanted = [origin.document_id if origin else None, found.id if found else None]
    locked = {one: await catalog.documents.lock(one) for one in sorted({one for one in wanted if one})}
    current, same = (locked.get(one) if one else None for one in wanted)
    if locked and not _is_unmoved(origin, await catalog.origins.at(place)):
        raise _Moved
    if same and same.content_hash != content.content_hash:
        same = None  # it got a new version, with other bytes, before it was locked
    is_shared = current is not None and same is None and await catalog.origins.count(current.id) > 1
    return Situation(current=current, same=same, is_shared=is_shared)


async def _is_excluded(catalog: Catalog, content: Content, place: Provenance, origin: OriginRow | None) -> bool:
    """Returns whether a user deleted the place's document, or these bytes at another place of the same source."""
    if origin:
        return origin.excluded
    return place.source_id is not None and await catalog.origins.is_excluded_content(
        place.source_id, content.content_hash
    )


def _is_unmoved(before: OriginRow | None, now: OriginRow | None) -> bool:
    if before is None or now is None:
        return before is now
    return (before.id, before.document_id, before.excluded) == (now.id, now.document_id, now.excluded)


async def _move_origins(catalog: Catalog, document_id: UUID, content: Content, known: Sequence[OriginRow]) -> None:
    """Points the keys of a replaced document at its new bytes; one without a key is identified by the bytes."""
    await catalog.origins.delete_unkeyed(document_id)
    keyed: list[tuple[UUID | None, Provenance]] = [
        (one.id, Provenance(one.kind, None, one.path, one.uri)) for one in known if not one.is_unkeyed
    ]
    for origin_id, place in keyed or [(None, Provenance.of_content(content.content_hash))]:
        await catalog.origins.write(
            place,
            name=content.name,
            content_hash=content.content_hash,
            document_id=document_id,
            origin_id=origin_id,
        )
