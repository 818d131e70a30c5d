"""The rows that recall reads."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row

from contracts.memory import MemoryScope, RecalledMemory
from memory.repository import COLUMNS
from service_kit.repository import Repository
from service_kit.statements import Statements

AT_ONCE = 5_000


class RecallSql(Statements, file="recall.sql", columns=f"{COLUMNS}, 0.0 AS score"):
    revision: str
    changed: str
    unprepared: str
    candidates: str
    neighbours: str


@dataclass(frozen=True)
class Revision:
    """The numbers of the last change and of the last removal of a user's memories."""

    revision: int
    removed_at_revision: int


@dataclass(frozen=True)
class ChangedMemory:
    """A memory to index; `embedding` is in pgvector's binary format, None without a vector of the model."""

    id: UUID
    kind: str
    session_id: UUID | None
    speaker: str
    said_at: datetime
    content: str
    terms: list[str]
    pieces: bytes
    embedding: bytes | None


@dataclass(frozen=True)
class NearMessage:
    """A message next to the one with the id `of`."""

    of: UUID
    id: UUID
    position: int
    speaker: str
    content: str


class RecallRows(Repository):
    async def revision(self, user_id: UUID) -> Revision:
        found = await self.one(RecallSql.revision, Revision, user_id=user_id)
        return found or Revision(0, 0)

    async def changed(self, user_id: UUID, after: int, model: str, dims: int) -> AsyncIterator[list[ChangedMemory]]:
        """Yields the memories added or changed after the revision, in the order in which they were added, by batches.

        They are read with a cursor in the database: of a million memories, all at once would take gigabytes.
        """
        values = {**self.bound, "user_id": user_id, "after": after, "model": model, "dims": dims}
        async with self.connection.cursor("changed", row_factory=class_row(ChangedMemory)) as cursor:
            await cursor.execute(RecallSql.changed.encode(), values)
            while batch := await cursor.fetchmany(AT_ONCE):
                yield batch

    async def unprepared(self, user_id: UUID) -> int:
        """Returns how many memories cannot be found yet, because their terms are not computed."""
        return int(await self.value(RecallSql.unprepared, user_id=user_id))

    async def candidates(
        self,
        user_id: UUID,
        ids: Sequence[UUID],
        as_of: datetime,
        scope: MemoryScope | None,
        session_id: UUID | None,
        *,
        past: bool,
    ) -> list[RecalledMemory]:
        """Returns which of the memories the user has in the scope, and hold at the time. `past`: a time was given."""
        values = {"user_id": user_id, "ids": list(ids), "as_of": as_of, "past": past}
        values |= {"scope": scope, "session_id": session_id}
        return await self.all(RecallSql.candidates, RecalledMemory, **values)

    async def neighbours(self, user_id: UUID, ids: Sequence[UUID]) -> list[NearMessage]:
        """Returns the messages next to these, each once, for the first one that it is next to."""
        return await self.all(RecallSql.neighbours, NearMessage, user_id=user_id, ids=list(ids))
