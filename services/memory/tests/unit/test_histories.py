"""Histories of changed facts, by rules and by a chat model's decisions: what holds now, and what held then."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.facts.answers import about
from memory.facts.corrections import SaidBefore, corrected
from memory.facts.decided import DecidedFacts, SaidText, proved
from memory.facts.questions import fact_question
from memory.facts.reconciliation import KnownFact, reconcile
from memory.facts.rules import statements
from memory.facts.statements import FactDecision, StatedFact
from memory.facts.things import names_of

TEXT = Path(__file__).with_name("histories.txt").read_text("utf-8")
HISTORIES = [
    [line for line in one.splitlines() if not line.startswith("#")]
    for one in re.split(r"\n\n+", TEXT)
    if any(line[:2] == "20" for line in one.splitlines())
]
SESSION = uuid4()
BEGAN = datetime(2020, 1, 1, 12, tzinfo=UTC)
LINE = re.compile(r"(?P<day>\d{4}-\d\d-\d\d)(?P<what>[:?]) (?P<text>.*?)(?: = (?P<answer>[^=]*))?")


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


def test_the_data_set_has_enough_histories():
    assert len(HISTORIES) >= 40


class ModelFacts(PlainFacts):
    """Reads messages with the decisions of a chat model that understands exactly what the rules do."""

    def say(self, text: str, at: datetime) -> None:
        self.hear(text)
        own = ""
        for statement in statements(text, at, "UTC"):  # each as a message of its own, because numbers change
            known = self.known(at)
            before = SaidBefore(f"{self.before}\n{own}".strip(), known, SESSION)
            told_of, own = corrected(statement, before, at, "UTC"), own if statement.subject is None else text
            if told_of is None:
                continue
            statement = told_of
            answer = DecidedFacts.model_validate_json(decided(text, statement, known, at))
            self.learn(proved(SaidText(text, at, "UTC"), answer, known), at)


def decided(text: str, statement: StatedFact, known: list[KnownFact], at: datetime) -> str:
    """Returns the answer of a model that decides correctly."""
    change = reconcile(statement, known, at)
    targets = [change.again, change.supersedes, *(fact_id for fact_id, _ in change.closes)]
    target = next((one for one in known if one.id in targets), None)
    told = change.statement or statement
    if change.decision is FactDecision.noop and target is None:
        return '{"decisions": []}'
    one = {
        "decision": change.decision,
        "memory": known.index(target) + 1 if target else None,
        "quote": text.strip(),
        "kind": told.kind,
        "subject": told.subject or "user",
        "predicate": told.predicate or target.predicate,
        "object": told.object or target.object,
        "one_value": told.values == "one",
        "corrects": told.corrects,
        "when": told.phrase,
        "tense": "past" if told.ends else "ahead" if told.starts and told.starts > at else "now",
    }
    return json.dumps({"decisions": [one]})


@pytest.mark.parametrize("facts_by", [PlainFacts, ModelFacts], ids=["rules", "model"])
@pytest.mark.parametrize("history", HISTORIES, ids=lambda lines: lines[-1])
def test_current_and_past_facts_are_known(history, facts_by):
    facts = facts_by()
    for minutes, line in enumerate(history):
        found = LINE.fullmatch(line)
        assert found, line
        at = datetime.fromisoformat(found["day"]).replace(hour=12, tzinfo=UTC) + timedelta(minutes=minutes)
        if found["what"] == ":":
            facts.say(found["text"], at)
        else:
            assert facts.ask(found["text"], at) == found["answer"], line


def test_repeated_statements_add_nothing():
    facts, at = PlainFacts(), datetime(2026, 1, 5, 12, tzinfo=UTC)
    for days in range(50):
        facts.say("I live in Munich. I love hiking. We decided to use PostgreSQL.", at + timedelta(days))
    assert len(facts.facts) == 3


CITIES = ("Berlin", "Lisbon", "Oslo", "Porto")
MOVES = st.lists(st.tuples(st.integers(1, 400), st.sampled_from(CITIES)), min_size=1, max_size=8)


@given(moves=MOVES, asked=st.integers(0, 2_500))
def test_at_any_instant_the_residence_is_the_one_that_was_told_last(moves, asked):
    facts, told, day = PlainFacts(), [(0, "-")], 0
    for days, city in moves:
        day += days
        facts.say(f"I moved to {city}.", BEGAN + timedelta(day))
        told.append((day, city))
    for at in {asked, *(one for one, _ in told), *(one - 1 for one, _ in told[1:])}:
        expected = [city for one, city in told if one <= at][-1]
        assert facts.ask("Where do I live?", BEGAN + timedelta(at)) == expected
