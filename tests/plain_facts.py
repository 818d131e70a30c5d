"""A user's facts in a list, changed by the rules and asked about without a database."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID, uuid4

from memory.facts.answers import about
from memory.facts.corrections import SaidBefore, corrected
from memory.facts.questions import fact_question
from memory.facts.reconciliation import KnownFact, reconcile
from memory.facts.rules import statements
from memory.facts.statements import StatedFact
from memory.facts.things import names_of

SESSION = uuid4()


@dataclass
class PlainFacts:
    """A fake of FactRows that keeps facts in a list."""

    facts: list[KnownFact] = field(default_factory=list)
    message: str = ""
    before: str = ""

    def known(self, at: datetime) -> list[KnownFact]:
        return [
            one
            for one in self.facts[::-1]
            if (one.valid_to is None or one.valid_to > at) and one.valid_to != one.valid_from
        ]

    def say(self, text: str, at: datetime) -> None:
        self.hear(text)
        self.learn(statements(text, at, "UTC"), at)

    def hear(self, text: str) -> None:
        """Remembers the message before this one in the only session."""
        self.message, self.before = text, self.message

    def learn(self, stated: Iterable[StatedFact], at: datetime) -> None:
        own = ""
        for statement in stated:
            before = SaidBefore(f"{self.before}\n{own}".strip(), self.known(at), SESSION)
            own = own if statement.subject is None else self.message
            told_of = corrected(statement, before, at, "UTC")
            if told_of is None:
                continue
            change = reconcile(told_of, self.known(at), at)
            for fact_id, valid_to in change.closes:
                self._change(fact_id, valid_to)
            for fact_id in change.reopens:
                self._change(fact_id, None)
            if (new := change.statement) is not None:
                assert new.subject is not None
                assert change.valid_from is not None
                times = (change.valid_from, change.valid_to, change.supersedes, SESSION)
                self.facts.append(KnownFact(uuid4(), new.subject, new.predicate, new.object, *times))

    def ask(self, question: str, at: datetime) -> str:
        question, _, before = question.partition(" << ")
        self.hear(question)
        parsed = fact_question(question, at, "UTC", before)
        assert parsed is not None, question
        held = [
            one
            for one in self.facts
            if (one.subject.lower() in names_of(parsed.subject) or self._named(one.subject, parsed.owned))
            and one.predicate in parsed.predicates
            and one.valid_from <= parsed.as_of
            and (one.valid_to is None or one.valid_to > parsed.as_of)
            and about(parsed.topic, one.object)
        ]
        return max(held, key=lambda one: one.valid_from).object if held else "-"

    @staticmethod
    def _named(subject: str, owned: str | None) -> bool:
        return owned is not None and subject.startswith(owned) and subject[len(owned)].isupper()

    def _change(self, fact_id: UUID, valid_to: datetime | None) -> None:
        self.facts = [replace(one, valid_to=valid_to) if one.id == fact_id else one for one in self.facts]
