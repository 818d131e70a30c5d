"""Rows for forgetting, export and retention."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString
from uuid import UUID

from contracts.memory import Memory, StandingTranscripts
from memory.repository import COLUMNS
from memory.rights.mentions import Mentions
from memory.world.repository import COLUMNS as EVENT_COLUMNS
from memory.world.repository import StoredWorldEvent
from service_kit.repository import Repository, SystemRepository
from service_kit.statements import Statements


class RightsSql(Statements, file="rights.sql", columns=COLUMNS, event_columns=EVENT_COLUMNS):
    texts: LiteralString
    of_session: LiteralString
    answering: LiteralString
    transcripts: LiteralString
    owned: LiteralString
    stating: LiteralString
    unstated: LiteralString
    repeating: LiteralString
    counts: LiteralString
    listed: LiteralString
    too_old: LiteralString
    runs: LiteralString
    own_worlds: LiteralString
    own_world_events: LiteralString
    retaining: LiteralString


@dataclass(frozen=True)
class MemoryText:
    """A memory with all text in its rows."""

    id: UUID
    text: str


@dataclass(frozen=True)
class MemoryCounts:
    """Rows by table; `vectors` and `postings` are columns of `memory`."""

    memory: int
    episode: int
    fact: int
    fact_source: int
    memory_source: int
    vectors: int
    postings: int


@dataclass(frozen=True)
class OldMemory:
    id: UUID
    user_id: UUID
    created_at: datetime


@dataclass(frozen=True)
class SessionRuns:
    session_id: UUID
    run_ids: list[UUID]


@dataclass(frozen=True)
class OwnWorldEvent(StoredWorldEvent):
    """An event with the id of its world."""

    world_id: UUID


class RightsRows(Repository):
    """The rows of one user's memories in a workspace."""

    async def mentioning(self, user_id: UUID, mentions: Mentions) -> set[UUID]:
        """Returns the memories that mention the text."""
        rows = await self.all(RightsSql.texts, MemoryText, user_id=user_id, ids=None, pattern=mentions.like)
        return {one.id for one in rows if mentions.are_in(one.text)}

    async def texts(self, user_id: UUID, ids: Iterable[UUID]) -> list[MemoryText]:
        """Returns which of the memories are the user's, with their texts."""
        return await self.all(RightsSql.texts, MemoryText, user_id=user_id, ids=list(ids), pattern=None)

    async def answering(self, user_id: UUID, subjects: Sequence[str], predicate: str) -> set[UUID]:
        """Returns the facts about the subject with these names (in lower case), including those that are over."""
        values = {"user_id": user_id, "subjects": list(subjects), "predicate": predicate}
        return set(await self.values(RightsSql.answering, **values))

    async def transcripts(self, ids: Iterable[UUID]) -> StandingTranscripts:
        """Returns how many of the memories are messages in transcripts, and their sessions."""
        found = await self.one(RightsSql.transcripts, StandingTranscripts, ids=list(ids))
        assert found is not None, "an aggregate has a row"
        return found

    async def of_session(self, user_id: UUID, session_id: UUID) -> set[UUID]:
        return set(await self.values(RightsSql.of_session, user_id=user_id, session_id=session_id))

    async def owned(self, user_id: UUID, ids: Iterable[UUID]) -> set[UUID]:
        return set(await self.values(RightsSql.owned, user_id=user_id, ids=list(ids)))

    async def with_sources(self, user_id: UUID, ids: set[UUID]) -> set[UUID]:
        """Returns the memories, the messages that state or repeat their facts, and the facts deleted with those."""
        while True:
            stating = set(await self.values(RightsSql.stating, ids=list(ids)))
            stating |= set(await self.values(RightsSql.repeating, user_id=user_id, ids=list(ids | stating)))
            more = await self.with_unstated(ids | stating)
            if more == ids:
                return ids
            ids = more

    async def with_unstated(self, ids: set[UUID]) -> set[UUID]:
        """Returns the memories, and the facts that no other message states."""
        return ids | set(await self.values(RightsSql.unstated, ids=list(ids)))

    async def counts(self, ids: Iterable[UUID]) -> MemoryCounts:
        found = await self.one(RightsSql.counts, MemoryCounts, ids=list(ids))
        assert found is not None, "an aggregate has a row"
        return found

    async def listed(self, ids: Iterable[UUID], limit: int) -> list[Memory]:
        """Returns the newest of the memories."""
        return await self.all(RightsSql.listed, Memory, ids=list(ids), limit=limit)

    async def too_old(self, limit: int) -> list[OldMemory]:
        """Returns memories that the workspace no longer wants to keep, all of one user; none if nothing is left."""
        return await self.all(RightsSql.too_old, OldMemory, limit=limit)

    async def runs(self, ids: Iterable[UUID]) -> dict[UUID, list[UUID]]:
        """Returns the runs that answered the user's messages among the ids, by session."""
        found = await self.all(RightsSql.runs, SessionRuns, ids=list(ids))
        return {one.session_id: one.run_ids for one in found}

    async def own_worlds(self, user_id: UUID) -> list[UUID]:
        return await self.values(RightsSql.own_worlds, user_id=user_id)

    async def own_world_events(self, user_id: UUID) -> list[OwnWorldEvent]:
        return await self.all(RightsSql.own_world_events, OwnWorldEvent, user_id=user_id)


class RetentionRules(SystemRepository):
    """The retention rules of all workspaces."""

    async def workspaces(self) -> list[UUID]:
        """Returns the workspaces that have a rule."""
        return await self.values(RightsSql.retaining)
