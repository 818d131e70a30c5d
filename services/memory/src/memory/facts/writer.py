"""Stores what a message states: decides how each statement changes the known facts, and applies the change."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from uuid import UUID, uuid5

from contracts.memory import MemoryScope
from contracts.reflections import Reflection
from memory.facts.corrections import SaidBefore, corrected, needs_facts
from memory.facts.reconciliation import FactChange, reconcile
from memory.facts.reflected import joined
from memory.facts.repository import FactRows
from memory.facts.rules import statements
from memory.facts.statements import USER, StatedFact
from memory.facts.things import names_of
from memory.preparation import Preparation
from memory.repository import Memories, NewMemory, NewMessage
from service_kit.postgres import Connection

log = logging.getLogger(__name__)
MOST_STATEMENTS = 20  # of one message


class FactWriter:
    """Writes facts. Only what people say becomes one: `read` finds nothing in the assistant's messages."""

    def __init__(self, preparation: Preparation) -> None:
        self.preparation = preparation

    def read(self, message: NewMessage) -> list[StatedFact]:
        """Returns what the message states."""
        if message.role not in ("user", "speaker"):
            return []
        speaker = USER if message.role == "user" else message.speaker
        found = statements(message.content, message.said_at, message.time_zone, speaker)
        return list(found)[:MOST_STATEMENTS]

    async def write(
        self,
        connection: Connection,
        workspace_id: UUID,
        message: NewMessage,
        reflections: Sequence[Reflection] = (),
        stated: Sequence[StatedFact] | None = None,
    ) -> int:
        """Stores what a message states, which was just stored itself, and its turn's reflections.

        `stated` is what the chat model read from it; without it the rules read the message. Returns how many facts were
        added. Their ids derive from the message's, so writing them again changes nothing. If the workspace reviews
        facts, they await review, and close no other fact until then.
        """
        learned = joined(reflections, self.read(message) if stated is None else stated, message.said_at)
        added = 0
        facts = FactRows(connection, workspace_id)
        writing = await facts.writing() if learned else "off"
        if writing == "off":
            return 0
        memories = Memories(connection, facts.workspace_id)
        texts = await self.preparation.unembedded([statement.text for statement in learned])
        for number, (statement, prepared) in enumerate(zip(learned, texts, strict=True)):
            earlier = any(one.subject is not None for one in learned[:number])
            told_of = await self._told_of(connection, facts, message, statement, message.content if earlier else "")
            if told_of is None:
                continue
            known = await facts.known(message.created_by, names_of(told_of.subject or ""), message.said_at)
            change = reconcile(told_of, known, message.said_at)
            log.info("memory decision", extra={"decision": change.decision.value, "kind": statement.kind.value})
            if change.again is not None:
                await facts.insert_source(change.again, message.id)
            if (new := change.statement) is not None:
                fact = _as_memory(new, message, number)
                await memories.insert(fact, prepared)
                await self._insert(facts, fact.id, message, new, change, approved=writing == "on")
                added += 1
            if writing == "on":
                await self._apply(facts, message, change)
        return added

    async def _told_of(
        self, connection: Connection, facts: FactRows, message: NewMessage, statement: StatedFact, own: str
    ) -> StatedFact | None:
        """Returns the statement with its subject; None if it corrects something, but it is not clear what.

        `own` is the message, if it states something before.
        """
        if not needs_facts(statement):
            return statement
        said = await Memories(connection, facts.workspace_id).said_before(message)
        known = await facts.known(message.created_by, None, message.said_at)
        before = SaidBefore(f"{said or ''}\n{own}".strip(), known, message.session_id)
        return corrected(statement, before, message.said_at, message.time_zone)

    async def _insert(
        self,
        facts: FactRows,
        fact_id: UUID,
        message: NewMessage,
        statement: StatedFact,
        change: FactChange,
        *,
        approved: bool,
    ) -> None:
        await facts.insert(
            fact_id,
            message.created_by,
            subject=statement.subject,
            predicate=statement.predicate,
            object=statement.object,
            phrase=statement.phrase,
            valid_from=change.valid_from,
            valid_to=change.valid_to,
            supersedes=change.supersedes,
            conflicts_with=change.conflicts_with,
            approved=approved,
        )
        await facts.insert_source(fact_id, message.id)

    async def _apply(self, facts: FactRows, message: NewMessage, change: FactChange) -> None:
        for fact_id, valid_to in change.closes:
            await facts.close(fact_id, valid_to)
        for fact_id in change.reopens:
            await facts.reopen(message.created_by, fact_id)


def _as_memory(statement: StatedFact, message: NewMessage, number: int) -> NewMemory:
    """Returns the memory of a statement, the message's with this number; its id derives from both."""
    return NewMemory(
        id=uuid5(message.id, f"fact {number}"),
        kind=statement.kind,
        content=statement.text,
        created_by=message.created_by,
        session_id=message.session_id,
        run_id=message.run_id,
        scope=MemoryScope.user,
        said_at=message.said_at,
    )
