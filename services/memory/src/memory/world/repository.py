"""The rows of a world: its document, and an event for each version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from psycopg.types.json import Jsonb

from contracts.base import Page
from contracts.world import World, WorldDocument, WorldEvent, WorldEventKind, WorldOperation
from memory.world.document import Document, WorldRepair
from memory.world.operations import Effect
from service_kit.pagination import decode_cursor, page
from service_kit.postgres import Connection
from service_kit.repository import Repository
from service_kit.statements import Statements

COLUMNS = "version, kind, op, path, value, touched, previous, repairs, created_by, run_id, created_at"


class WorldSql(Statements, file="worlds.sql", columns=COLUMNS):
    """The statements of a world and of its events."""

    create: LiteralString
    find: LiteralString
    lock: LiteralString
    update: LiteralString
    add_event: LiteralString
    events_after: LiteralString
    topic_events: LiteralString
    count_events: LiteralString
    rewrite_event: LiteralString
    delete_event: LiteralString
    page: LiteralString
    add_change: LiteralString
    change_digest: LiteralString
    is_session_deleted: LiteralString
    delete: LiteralString


@dataclass(frozen=True)
class WorldPlace:
    """Identifies a world: the workspace's, or with a session that of the session and its user."""

    workspace_id: UUID
    session_id: UUID | None = None
    owner_id: UUID | None = None

    @property
    def world_id(self) -> UUID:
        return self.session_id or self.workspace_id


@dataclass(frozen=True)
class StoredWorld:
    """A row of `world`; the document is as stored, valid or not."""

    id: UUID
    owner_id: UUID | None
    version: int
    document: Any
    created_at: datetime
    updated_at: datetime

    def shown(self, document: Document) -> World:
        return World(
            session_id=self.id if self.owner_id else None,
            version=self.version,
            document=WorldDocument.model_validate(document),
            created_at=self.created_at,
            updated_at=self.updated_at,
        )


@dataclass(frozen=True)
class StoredWorldEvent:
    """A row of `world_event`; `previous` is a list with the earlier value at `touched`, empty if there was none."""

    version: int
    kind: str
    op: str | None
    path: str | None
    value: Any
    touched: list[str]
    previous: Any
    repairs: list[str]
    created_by: UUID | None
    run_id: UUID | None
    created_at: datetime

    def shown(self) -> WorldEvent:
        return WorldEvent(
            version=self.version,
            kind=WorldEventKind(self.kind),
            op=self.op,
            path=self.path,
            value=self.value,
            previous=self.previous[0] if self.previous else None,
            existed=bool(self.previous),
            repairs=self.repairs,
            created_by=self.created_by,
            run_id=self.run_id,
            created_at=self.created_at,
        )


@dataclass(frozen=True)
class Author:
    """Who makes a change; `kind` is the kind of its events."""

    user_id: UUID
    run_id: UUID | None = None
    kind: WorldEventKind = WorldEventKind.operation


class WorldRows(Repository):
    """The rows of one world, in its user's transaction."""

    def __init__(self, connection: Connection, place: WorldPlace) -> None:
        super().__init__(connection, place.workspace_id)
        self.bound = {**self.bound, "world_id": place.world_id, "owner_id": place.owner_id}

    async def find(self) -> StoredWorld | None:
        return await self.one(WorldSql.find, StoredWorld)

    async def lock(self) -> StoredWorld | None:
        """Returns the world, locked until the transaction ends."""
        return await self.one(WorldSql.lock, StoredWorld)

    async def create(self, document: Document) -> None:
        """Creates the world with its first event, unless it exists."""
        if await self.run(WorldSql.create, document=Jsonb(document)):
            await self._add_event(1, WorldEventKind.created)
            await self.put(document, 1)

    async def put(self, document: Document, version: int) -> StoredWorld:
        """Stores the document of a version; returns the row."""
        stored = await self.one(WorldSql.update, StoredWorld, document=Jsonb(document), version=version)
        assert stored is not None, "the transaction holds its row"
        return stored

    async def add_effects(self, version: int, effects: Sequence[Effect], author: Author) -> None:
        """Adds the events of operations, the first with the version after the given one."""
        await self.many(
            WorldSql.add_event,
            [
                _event(
                    version + number,
                    author.kind,
                    op=effect.operation.op.value,
                    path=effect.operation.path,
                    value=Jsonb(effect.operation.value) if effect.operation.has_value else None,
                    touched=list(effect.touched),
                    previous=Jsonb([effect.previous] if effect.existed else []),
                    created_by=author.user_id,
                    run_id=author.run_id,
                )
                for number, effect in enumerate(effects, 1)
            ],
        )

    async def add_repair(self, version: int, repair: WorldRepair) -> None:
        """Adds the event of a repair, with the values that were removed."""
        previous = [repair.malformed] if repair.malformed else []
        await self._add_event(
            version, WorldEventKind.repaired, previous=Jsonb(previous), repairs=repair.repairs[:1_000]
        )

    async def add_conflict(self, version: int, operation: WorldOperation, author: Author, why: str) -> None:
        """Adds an event for an operation of a run that was not applied."""
        await self._add_event(
            version,
            author.kind,
            op=operation.op.value,
            path=operation.path,
            value=Jsonb(operation.value) if operation.has_value else None,
            repairs=[why],
            created_by=author.user_id,
            run_id=author.run_id,
        )

    async def _add_event(self, version: int, kind: WorldEventKind, **given: object) -> None:
        await self.run(WorldSql.add_event, **_event(version, kind, **given))

    async def events_after(self, version: int) -> list[StoredWorldEvent]:
        """Returns the events after a version, newest first."""
        return await self.all(WorldSql.events_after, StoredWorldEvent, version=version)

    async def topic_events(self, path: str, topics: Sequence[str]) -> list[StoredWorldEvent]:
        """Returns the events that reflected the topics, and in which a person removed any, newest first."""
        return await self.all(WorldSql.topic_events, StoredWorldEvent, path=path, topics=list(topics))

    async def count_events(self) -> int:
        return int(await self.value(WorldSql.count_events))

    async def rewrite_event(self, event: StoredWorldEvent) -> None:
        """Replaces the values and repairs of an event."""
        values = {"value": Jsonb(event.value), "previous": Jsonb(event.previous), "repairs": event.repairs}
        await self.run(WorldSql.rewrite_event, version=event.version, **values)

    async def delete_event(self, version: int) -> None:
        await self.run(WorldSql.delete_event, version=version)

    async def add_forgotten(self, version: int, author: Author) -> None:
        """Adds an event that says that something was forgotten, but not what."""
        await self._add_event(version, WorldEventKind.forgotten, created_by=author.user_id)

    async def page(self, limit: int, cursor: str | None) -> Page[WorldEvent]:
        """Returns the events, newest first."""
        (before,) = decode_cursor(cursor, int)
        before = None if before is None else min(before, 2**31 - 1)
        rows = await self.all(WorldSql.page, StoredWorldEvent, before=before, limit=limit + 1)
        return page(rows, limit, lambda event: (event.version,), StoredWorldEvent.shown)

    async def add_change(self, change_id: UUID, digest: str) -> bool:
        """Records a change; returns False if it was made before."""
        return await self.run(WorldSql.add_change, id=change_id, digest=digest) == 1

    async def change_digest(self, change_id: UUID) -> str | None:
        digest: str | None = await self.value(WorldSql.change_digest, id=change_id)
        return digest

    async def is_session_deleted(self) -> bool:
        return bool(await self.value(WorldSql.is_session_deleted))

    async def delete(self) -> bool:
        """Deletes the world with its history; returns whether there was one."""
        return await self.run(WorldSql.delete) == 1


def _event(version: int, kind: WorldEventKind, **given: object) -> dict[str, object]:
    """Returns the columns of an event."""
    columns = dict.fromkeys(("op", "path", "value", "created_by", "run_id"))
    values = {**columns, "touched": [], "previous": Jsonb([]), "repairs": [], **given}
    return {"version": version, "kind": kind.value, **values}
