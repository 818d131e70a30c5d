"""Reads and changes worlds; each method is one transaction of its caller."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from uuid import UUID

from contracts.base import Page
from contracts.world import World, WorldDiff, WorldEvent, WorldEventKind, WorldOperation
from memory.errors import WorldSessionNotFound, WorldVersionNotFound
from memory.world.difference import differences, leading_to
from memory.world.document import Document, defaults, repaired
from memory.world.operations import apply, undo
from memory.world.repository import Author, StoredWorld, WorldPlace, WorldRows
from memory.world.session_owners import SessionOwners
from memory.world.status import compile_status
from service_kit.auth import Principal
from service_kit.idempotency import IdempotencyKeyReused
from service_kit.postgres import Database
from service_kit.problems import PreconditionFailed


class Worlds:
    """The worlds that users may see: the workspace's, and those of their own sessions."""

    def __init__(self, database: Database, sessions: SessionOwners) -> None:
        self.database, self.sessions = database, sessions

    async def show(self, caller: Principal, session_id: UUID | None, version: int | None = None) -> World:
        """Returns the world, at a version if given. Creates a new one, repairs a malformed one.

        Raises WorldVersionNotFound.
        """
        if version is None and (whole := await self._whole(caller, session_id)) is not None:
            return whole
        async with self._opened(caller, session_id) as (rows, stored):
            if version is None or version == stored.version:
                return stored.shown(stored.document)
            return _at_version(stored, version).shown(await _document_at(rows, stored, version))

    async def apply(
        self,
        caller: Principal,
        session_id: UUID | None,
        operations: Sequence[WorldOperation],
        *,
        expected: int | None = None,
        change_id: UUID | None = None,
        dry_run: bool = False,
    ) -> World:
        """Applies all operations or none, and returns the changed world.

        A `change_id` that was applied before changes nothing. Raises PreconditionFailed unless the world has the
        `expected` version; WorldOperationInvalid, WorldOperationFailed, IdempotencyKeyReused.
        """
        async with self._opened(caller, session_id) as (rows, stored):
            if change_id and not dry_run and not await is_new(rows, change_id, operations):
                return stored.shown(stored.document)
            _expect(stored, expected)
            return await change(rows, stored, operations, Author(caller.user_id), dry_run=dry_run)

    async def history(
        self, caller: Principal, session_id: UUID | None, limit: int, cursor: str | None
    ) -> Page[WorldEvent]:
        """Returns the events, newest first."""
        async with self._opened(caller, session_id) as (rows, _):
            return await rows.page(limit, cursor)

    async def status(self, caller: Principal) -> str:
        """Returns the status of the workspace's project as JSON, compiled from what holds now."""
        async with self.database.workspace(caller.workspace_id, user_id=caller.user_id) as connection:
            return await compile_status(connection, caller.workspace_id)

    async def diff(self, caller: Principal, session_id: UUID | None, since: int, until: int | None) -> WorldDiff:
        """Returns what changed from one version to another, by default the current one. Raises WorldVersionNotFound."""
        async with self._opened(caller, session_id) as (rows, stored):
            until = stored.version if until is None else until
            before, after = await _document_at(rows, stored, since), await _document_at(rows, stored, until)
        return WorldDiff(from_version=since, to_version=until, changes=differences(before, after))

    async def revert(self, caller: Principal, session_id: UUID | None, version: int, expected: int | None) -> World:
        """Restores the document of a version by operations. Raises WorldVersionNotFound, PreconditionFailed."""
        async with self._opened(caller, session_id) as (rows, stored):
            _expect(stored, expected)
            operations = leading_to(stored.document, await _document_at(rows, stored, version))
            return await change(rows, stored, operations, Author(caller.user_id, kind=WorldEventKind.reverted))

    async def _whole(self, caller: Principal, session_id: UUID | None) -> World | None:
        """Returns the world if it exists and is well-formed; reading it takes no lock."""
        place = _place_of(caller, session_id)
        async with self.database.workspace(caller.workspace_id, user_id=caller.user_id) as connection:
            stored = await WorldRows(connection, place).find()
        if stored is None or stored.owner_id != place.owner_id or repaired(stored.document).needed:
            return None
        return stored.shown(stored.document)

    @asynccontextmanager
    async def _opened(self, caller: Principal, session_id: UUID | None) -> AsyncIterator[tuple[WorldRows, StoredWorld]]:
        """Yields the world, locked and well-formed. Raises WorldSessionNotFound, ServiceSilent."""
        place = await self._place(caller, session_id)
        async with self.database.workspace(caller.workspace_id, user_id=caller.user_id) as connection:
            yield await open_world(WorldRows(connection, place), place)

    async def _place(self, caller: Principal, session_id: UUID | None) -> WorldPlace:
        """Returns the caller's world's place. The orchestrator is asked whose session it is until its world exists."""
        place = _place_of(caller, session_id)
        if session_id is None:
            return place
        async with self.database.workspace(caller.workspace_id, user_id=caller.user_id) as connection:
            stored = await WorldRows(connection, place).find()
        if stored is None and await self.sessions.owner_of(caller.workspace_id, session_id) != caller.user_id:
            raise WorldSessionNotFound
        return place


def _place_of(caller: Principal, session_id: UUID | None) -> WorldPlace:
    return WorldPlace(caller.workspace_id, session_id, caller.user_id if session_id else None)


async def open_world(rows: WorldRows, place: WorldPlace) -> tuple[WorldRows, StoredWorld]:
    """Returns the world, locked: created if it is new, repaired if it is malformed. Raises WorldSessionNotFound."""
    stored = await rows.lock()
    if stored is None:
        if place.session_id and await rows.is_session_deleted():
            raise WorldSessionNotFound
        await rows.create(defaults())
        stored = await rows.lock()
    if stored is None or stored.owner_id != place.owner_id:
        raise WorldSessionNotFound
    repair = repaired(stored.document)
    if repair.needed:
        await rows.add_repair(stored.version + 1, repair)
        stored = await rows.put(repair.document, stored.version + 1)
    return rows, stored


def _expect(stored: StoredWorld, expected: int | None) -> None:
    if expected is not None and expected != stored.version:
        raise PreconditionFailed(f"the world now has version {stored.version}")


async def is_new(rows: WorldRows, change_id: UUID, operations: Sequence[WorldOperation]) -> bool:
    """Records the change; returns whether it is new. Raises IdempotencyKeyReused."""
    requested = [one.model_dump(mode="json", exclude_unset=True) for one in operations]
    digest = hashlib.sha256(json.dumps(requested, sort_keys=True).encode()).hexdigest()
    if await rows.add_change(change_id, digest):
        return True
    if await rows.change_digest(change_id) != digest:
        raise IdempotencyKeyReused
    return False


async def change(
    rows: WorldRows,
    stored: StoredWorld,
    operations: Sequence[WorldOperation],
    author: Author,
    *,
    dry_run: bool = False,
) -> World:
    """Applies all operations, adds an event for each that changes something, and returns the changed world."""
    applied = apply(stored.document, operations)
    if not applied.effects:
        return stored.shown(stored.document)
    if dry_run:
        return stored.shown(applied.document)
    await rows.add_effects(stored.version, applied.effects, author)
    return (await rows.put(applied.document, stored.version + len(applied.effects))).shown(applied.document)


async def _document_at(rows: WorldRows, stored: StoredWorld, version: int) -> Document:
    """Returns the document of a version: the current one with the later events undone. Raises WorldVersionNotFound."""
    _at_version(stored, version)
    document: Document = stored.document
    for event in await rows.events_after(version):
        if event.touched:
            document = undo(document, event.touched, *_before(event.previous))
    return repaired(document).document


def _before(previous: list[object]) -> tuple[object, bool]:
    return (previous[0], True) if previous else (None, False)


def _at_version(stored: StoredWorld, version: int) -> StoredWorld:
    """Returns the world with this version. Raises WorldVersionNotFound unless it has had the version."""
    if not 1 <= version <= stored.version:
        raise WorldVersionNotFound(f"there are versions 1 to {stored.version}")
    return StoredWorld(stored.id, stored.owner_id, version, stored.document, stored.created_at, stored.updated_at)
