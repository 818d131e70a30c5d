"""Takes files in: from uploads, and from the synchronisations of sources in a worker's process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID, uuid4

from psycopg.rows import scalar_row

from contracts.ingestion import Lane, OriginKind
from contracts.sources import OnRemoved
from ingestion.documents import deletion, documents, origins, versions
from ingestion.documents.incoming_files import Change, IncomingFile, Limits, Refused, Taken, accepted
from ingestion.documents.original_storage import Originals
from ingestion.documents.origins import Place
from ingestion.documents.retry import revive
from ingestion.documents.rows import DocumentRow, OriginRow
from ingestion.documents.versions import Content
from ingestion.statements import SQL
from service_kit.objects import ObjectStore
from service_kit.outbox import Outbox
from service_kit.postgres import Connection, Database
from service_kit.problems import WorkspaceGone

__all__ = ["Change", "Dropped", "IncomingFile", "Intake", "Limits", "Place", "Refused", "SourceGone", "Taken"]
Dropped = Literal["deleted", "unlinked", "stale", "unknown"]
UPLOADED = frozenset({OriginKind.upload, OriginKind.artifact})


class SourceGone(Exception):
    """The source of the place was deleted: nothing more is taken from it."""


class _Moved(Exception):
    """The place changed hands between a look and the locks: look again."""


@dataclass(frozen=True)
class _Arrival:
    workspace_id: UUID
    file: IncomingFile
    content: Content
    place: Place
    lane: Lane


class Intake:
    """Every method is one or a few short transactions; all raise Unavailable when a store is away."""

    def __init__(self, database: Database, objects: ObjectStore, outbox: Outbox, limits: Limits) -> None:
        self.database, self.outbox, self.limits = database, outbox, limits
        self.originals = Originals(database, objects)

    async def take(self, workspace_id: UUID, file: IncomingFile, place: Place, lane: Lane) -> Taken:
        """What became of the file; raises SourceGone and WorkspaceGone.

        Equal bytes are one document with several origins, whoever brings them and at the same moment. Other bytes at a
        known place are a new version of its document, or another document when the old one has further origins.
        """
        content = accepted(file, self.limits)
        if isinstance(content, Refused):
            return Taken("refused", refused=content)
        arrival = _Arrival(workspace_id, file, content, place, lane)
        await self.originals.store(workspace_id, file.path, content)
        while True:
            try:
                async with self.database.workspace(workspace_id) as connection:
                    return await self._take(connection, arrival)
            except _Moved:
                continue
            except WorkspaceGone:
                await self.originals.erase(workspace_id, content)
                raise

    async def drop(self, workspace_id: UUID, origin_id: UUID, on_removed: OnRemoved) -> Dropped:
        """The place has no file any more. Take what is new first, so that a moved file is found by its content."""
        key = {"workspace_id": workspace_id, "origin_id": origin_id}
        async with self.database.workspace(workspace_id) as connection:
            place = await origins.find(connection, workspace_id, origin_id)
            if place is None:
                return "unknown"
            await origins.lock_place(connection, workspace_id, place)
            document = await _lock(connection, workspace_id, place.document_id)
            origin = await origins.find(connection, workspace_id, origin_id)
            if origin is None:
                return "unknown"
            if document is None or origin.document_id != document.id:
                await connection.execute(SQL["delete_origin"], key)
                return "unlinked"
            if on_removed is OnRemoved.mark_stale:
                await connection.execute(SQL["miss_origin"], key)
                await origins.describe(connection, self.outbox, workspace_id, [document.id])
                return "stale"
            await connection.execute(SQL["delete_origin"], key)
            return await self._leave(connection, document)

    async def seen(self, workspace_id: UUID, origin_ids: Sequence[UUID]) -> None:
        """The places have what they had. Thousands at once are fine."""
        async with self.database.workspace(workspace_id) as connection:
            values = {"workspace_id": workspace_id, "origin_ids": list(origin_ids)}
            await connection.execute(SQL["see_origins"], values)

    async def queued_bytes(self, workspace_id: UUID, lane: Lane) -> int:
        """What waits to be converted."""
        async with self.database.workspace(workspace_id) as connection:
            cursor = connection.cursor(row_factory=scalar_row)
            await cursor.execute(SQL["count_queued_bytes"], {"workspace_id": workspace_id, "lane": lane})
            return int(await cursor.fetchone() or 0)

    async def has_room(self, workspace_id: UUID, lane: Lane) -> bool:
        """False while the lane's files of the workspace that wait to be converted fill `max_queued_bytes`."""
        return await self.queued_bytes(workspace_id, lane) < self.limits.max_queued_bytes

    async def _take(self, connection: Connection, arrival: _Arrival) -> Taken:
        workspace_id, place, content = arrival.workspace_id, arrival.place, arrival.content
        await origins.lock_place(connection, workspace_id, place)
        if place.source_id and not await origins.lock_source(connection, workspace_id, place.source_id):
            raise SourceGone
        await documents.lock_content(connection, workspace_id, content.content_hash)
        origin = await origins.at(connection, workspace_id, place)
        if await _is_excluded(connection, arrival, origin):
            return Taken("excluded", origin_id=await _write(connection, arrival, origin, None))
        current, same = await _lock_both(connection, arrival, origin)
        if not _is_same(origin, await origins.at(connection, workspace_id, place)):
            raise _Moved
        if same:
            return await self._link(connection, arrival, origin, current, same)
        await self.originals.store_if_erased(workspace_id, arrival.file.path, content)
        if current and await origins.count(connection, workspace_id, current.id) == 1:
            await versions.begin(connection, self.outbox, current, content, arrival.lane)
            return await self._finish(connection, arrival, origin, current.id, "new_version")
        created = await versions.create(connection, self.outbox, workspace_id, content, place.kind, arrival.lane)
        taken = await self._finish(connection, arrival, origin, created.id, "created")
        if current:
            await origins.describe(connection, self.outbox, workspace_id, [current.id])
        return taken

    async def _link(
        self,
        connection: Connection,
        arrival: _Arrival,
        origin: OriginRow | None,
        current: DocumentRow | None,
        same: DocumentRow,
    ) -> Taken:
        """The bytes are there. Asked for by a user, they are tried again and come before what sources brought."""
        if arrival.place.kind in UPLOADED:
            await revive(connection, self.outbox, same, arrival.lane)
            if arrival.lane is Lane.interactive:
                key = {"workspace_id": arrival.workspace_id, "document_id": same.id}
                await connection.execute(SQL["hasten_stages"], key)
        moved = current is None or current.id != same.id
        taken = await self._finish(connection, arrival, origin, same.id, "linked" if moved else "unchanged")
        if current and moved:
            await self._leave(connection, current)
        return taken

    async def _finish(
        self, connection: Connection, arrival: _Arrival, origin: OriginRow | None, document_id: UUID, change: Change
    ) -> Taken:
        origin_id = await _write(connection, arrival, origin, document_id)
        await origins.describe(connection, self.outbox, arrival.workspace_id, [document_id])
        document = await documents.find(connection, arrival.workspace_id, document_id)
        return Taken(change, document, origin_id)

    async def _leave(self, connection: Connection, document: DocumentRow) -> Dropped:
        """The locked document has lost an origin: it goes with its last one."""
        if await origins.count(connection, document.workspace_id, document.id):
            await origins.describe(connection, self.outbox, document.workspace_id, [document.id])
            return "unlinked"
        await deletion.remove(connection, self.outbox, document.workspace_id, [document.id])
        return "deleted"


async def _is_excluded(connection: Connection, arrival: _Arrival, origin: OriginRow | None) -> bool:
    """True when a user deleted what the place has, or the same bytes at another place of the source."""
    if origin:
        return origin.excluded
    source_id, content_hash = arrival.place.source_id, arrival.content.content_hash
    return source_id is not None and await origins.is_excluded(
        connection, arrival.workspace_id, source_id, content_hash
    )


async def _lock_both(
    connection: Connection, arrival: _Arrival, origin: OriginRow | None
) -> tuple[DocumentRow | None, DocumentRow | None]:
    """The place's document and the one that has the file's bytes, locked in the order of their ids."""
    workspace_id, content_hash = arrival.workspace_id, arrival.content.content_hash
    found = await documents.find_by_hash(connection, workspace_id, content_hash)
    wanted = [origin.document_id if origin else None, found.id if found else None]
    locked = {one: await _lock(connection, workspace_id, one) for one in sorted({one for one in wanted if one})}
    current, same = (locked.get(one) if one else None for one in wanted)
    # A new version may have taken its bytes away before it was locked.
    return current, same if same and same.content_hash == content_hash else None


async def _lock(connection: Connection, workspace_id: UUID, document_id: UUID | None) -> DocumentRow | None:
    return await documents.lock(connection, workspace_id, document_id) if document_id else None


def _is_same(before: OriginRow | None, now: OriginRow | None) -> bool:
    if before is None or now is None:
        return before is now
    return (before.id, before.document_id, before.excluded) == (now.id, now.document_id, now.excluded)


async def _write(connection: Connection, arrival: _Arrival, origin: OriginRow | None, document_id: UUID | None) -> UUID:
    origin_id = origin.id if origin else uuid4()
    # An upload that is known by its bytes keeps the name under which they came first.
    name = origin.name if origin and origin.is_unkeyed else arrival.content.name
    await origins.write(
        connection,
        arrival.workspace_id,
        origin_id,
        arrival.place,
        name=name,
        content_hash=arrival.content.content_hash,
        document_id=document_id,
    )
    return origin_id
