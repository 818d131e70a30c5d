"""A user's facts in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from memory.facts.reconciliation import KnownFact
from service_kit.repository import Repository
from service_kit.statements import Statements

Writing = Literal["on", "review", "off"]


class FactSql(Statements, file="facts.sql"):
    writing: str
    set_writing: str
    retention_days: str
    keep_forever: str
    keep_for: str
    known: str
    insert: str
    insert_source: str
    close: str
    restate: str
    reopen: str
    approve: str
    holding: str


@dataclass(frozen=True)
class HeldFact:
    """A fact that held at a time. `speaker`, who stated it last, is empty for the user."""

    id: UUID
    kind: str
    content: str
    subject: str
    predicate: str
    object: str
    valid_from: datetime
    valid_to: datetime | None
    said_at: datetime
    speaker: str


class FactRows(Repository):
    async def writing(self) -> Writing:
        """Returns how facts are kept in the workspace; the default is `on`."""
        found: Writing | None = await self.value(FactSql.writing)
        return found or "on"

    async def set_writing(self, writing: Writing) -> None:
        await self.run(FactSql.set_writing, writing=writing)

    async def retention_days(self) -> int | None:
        """Returns how many days the workspace keeps memories; None means forever."""
        days: int | None = await self.value(FactSql.retention_days)
        return days

    async def set_retention(self, days: int | None) -> None:
        if days is None:
            await self.run(FactSql.keep_forever)
        else:
            await self.run(FactSql.keep_for, days=days)

    async def known(self, user_id: UUID, subjects: Sequence[str] | None, at: datetime) -> list[KnownFact]:
        """Returns facts that hold at the time or later, latest said first; without `subjects`, about anyone."""
        values = {"user_id": user_id, "subjects": [one.lower() for one in subjects or ()], "all": subjects is None}
        return await self.all(FactSql.known, KnownFact, **values, at=at)

    async def insert(self, fact_id: UUID, user_id: UUID, **columns: object) -> None:
        """Adds the fact's columns to the memory with this id."""
        await self.run(FactSql.insert, id=fact_id, user_id=user_id, **columns)

    async def insert_source(self, fact_id: UUID, episode_id: UUID) -> None:
        await self.run(FactSql.insert_source, fact_id=fact_id, episode_id=episode_id)

    async def close(self, fact_id: UUID, valid_to: datetime) -> None:
        await self.run(FactSql.close, id=fact_id, valid_to=valid_to)

    async def restate(self, user_id: UUID, fact_id: UUID, subject: str, predicate: str, told: str) -> None:
        """Changes what a fact states; the times at which it holds stay."""
        values = {"user_id": user_id, "subject": subject, "predicate": predicate, "object": told}
        await self.run(FactSql.restate, id=fact_id, **values)

    async def reopen(self, user_id: UUID, fact_id: UUID) -> None:
        await self.run(FactSql.reopen, user_id=user_id, id=fact_id)

    async def approve(self, user_id: UUID, fact_id: UUID) -> bool:
        """Approves a fact; returns False if the user has no such fact."""
        return bool(await self.value(FactSql.approve, user_id=user_id, id=fact_id))

    async def holding(
        self,
        user_id: UUID,
        as_of: datetime,
        limit: int,
        about: tuple[Sequence[str], Sequence[str]] | None = None,
        owned: str | None = None,
        named: str | None = None,
    ) -> list[HeldFact]:
        """Returns approved facts that held at the time, latest first.

        `about` has the names of a subject, in lower case, and predicates; a name that follows `owned` is one, too,
        and so is someone close to the user with the name `named`.
        """
        subjects, predicates = (list(about[0]), list(about[1])) if about else (None, None)
        values = {"user_id": user_id, "as_of": as_of, "limit": limit, "subjects": subjects, "predicates": predicates}
        values |= {"owned": owned, "named": named}
        return await self.all(FactSql.holding, HeldFact, **values)
