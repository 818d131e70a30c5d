"""A user's facts in a list, changed by the rules and asked about without a database."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID, uuid4

from memory.facts.answers import about
from memory.facts.corrections import SaidBefore, corrected
from memory.facts.questions import FactQuestion, fact_question
from memory.facts.reconciliation import KnownFact, reconcile
from memory.facts.rules import statements
from memory.facts.statements import StatedFact
from memory.facts.things import names_of
from memory.recall.telling import Telling
from relevance.analysis import Analyzer
from relevance.soft_match import SoftMatch
from relevance.wordpieces import WordPieces

SESSION = uuid4()
TELLING = Telling(Analyzer(), WordPieces(), SoftMatch())


@dataclass
class PlainFacts:
    """A fake of FactRows that keeps facts in a list."""

    facts: list[KnownFact] = field(default_factory=list)
    message: str = ""
    before: str = ""
    told: list[tuple[str, datetime, set[UUID]]] = field(default_factory=list)
    """The messages that state something or nothing, when they were said, and the facts that they state."""

    def known(self, at: datetime) -> list[KnownFact]:
        return [
            one
            for one in self.facts[::-1]
            if (one.valid_to is None or one.valid_to > at) and one.valid_to != one.valid_from
        ]

    def say(self, text: str, at: datetime) -> None:
        self.hear(text)
        self.told.append((text, at, set()))
        self.learn(statements(text, at, str(at.tzinfo)), at)

    def hear(self, text: str) -> None:
        """Remembers the message before this one in the only session."""
        self.message, self.before = text, self.message

    def learn(self, stated: Iterable[StatedFact], at: datetime) -> None:
        own = ""
        for statement in stated:
            before = SaidBefore(f"{self.before}\n{own}".strip(), self.known(at), SESSION)
            own = own if statement.subject is None else self.message
            told_of = corrected(statement, before, at, str(at.tzinfo))
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
                self._state(self.facts[-1].id)
            elif change.again is not None:
                self._state(change.again)

    def ask(self, question: str, at: datetime) -> str:
        question, _, before = question.partition(" << ")
        self.hear(question)
        parsed = fact_question(question, at, str(at.tzinfo), before)
        if parsed is None:
            return "-"
        held = [
            one
            for one in self.facts
            if (one.subject.lower() in names_of(parsed.subject) or self._named(one.subject, parsed))
            and one.predicate in parsed.predicates
            and one.valid_from <= parsed.as_of
            and (one.valid_to is None or one.valid_to > parsed.as_of)
            and about(parsed.topic, one.object)
        ]
        return max(held, key=lambda one: one.valid_from).object if held else "-"

    def quote(self, question: str, at: datetime) -> str:
        """Returns the newest clause that tells what is asked, of a message that still holds; "-" if there is none."""
        asked = TELLING.asked(question.partition(" << ")[0])
        if asked is None:
            return "-"
        over = {one.id for one in self.facts if one.valid_to is not None and one.valid_to <= at}
        holding = [(text, said_at) for text, said_at, stated in self.told if not stated or stated - over]
        clauses = (TELLING.told(asked, text, said_at, str(said_at.tzinfo)) for text, said_at in holding[::-1])
        return next((one.text for one in clauses if one is not None), "-")

    def _state(self, fact_id: UUID) -> None:
        if self.told:
            self.told[-1][2].add(fact_id)

    @staticmethod
    def _named(subject: str, asked: FactQuestion) -> bool:
        owned, name = asked.owned, asked.named
        if owned is not None and subject.startswith(owned) and subject[len(owned)].isupper():
            return True
        return name is not None and subject.startswith("user's ") and subject.endswith(f" {name}")

    def _change(self, fact_id: UUID, valid_to: datetime | None) -> None:
        self.facts = [replace(one, valid_to=valid_to) if one.id == fact_id else one for one in self.facts]
