"""Histories of changed facts, by rules: what holds now, and what held then."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from memory.facts.answers import fact_question
from memory.facts.reconciliation import KnownFact, reconcile
from memory.facts.rules import statements

TEXT = Path(__file__).with_name("histories.txt").read_text("utf-8")
HISTORIES = [
    [line for line in one.splitlines() if not line.startswith("#")]
    for one in re.split(r"\n\n+", TEXT)
    if any(line[:2] == "20" for line in one.splitlines())
]
LINE = re.compile(r"(?P<day>\d{4}-\d\d-\d\d)(?P<what>[:?]) (?P<text>.*?)(?: = (?P<answer>[^=]*))?")


@dataclass
class PlainFacts:
    """FactRows in a list, changed as the tables are."""

    facts: list[KnownFact] = field(default_factory=list)

    def say(self, text: str, at: datetime) -> None:
        for statement in statements(text, at, "UTC"):
            known = [
                one
                for one in self.facts[::-1]
                if (one.valid_to is None or one.valid_to > at) and one.valid_to != one.valid_from
            ]
            change = reconcile(statement, known, at)
            for fact_id, valid_to in change.closes:
                self._change(fact_id, valid_to)
            for fact_id in change.reopens:
                self._change(fact_id, None)
            if (new := change.statement) is not None:
                assert new.subject is not None
                assert change.valid_from is not None
                times = (change.valid_from, change.valid_to, change.supersedes, None)
                self.facts.append(KnownFact(uuid4(), new.subject, new.predicate, new.object, *times))

    def ask(self, question: str, at: datetime) -> str:
        asked = fact_question(question, at, "UTC")
        assert asked is not None, question
        held = [
            one
            for one in self.facts
            if (one.subject.lower(), one.predicate) == (asked.subject.lower(), asked.predicate)
            and one.valid_from <= asked.as_of
            and (one.valid_to is None or one.valid_to > asked.as_of)
        ]
        return max(held, key=lambda one: one.valid_from).object if held else "-"

    def _change(self, fact_id: UUID, valid_to: datetime | None) -> None:
        self.facts = [replace(one, valid_to=valid_to) if one.id == fact_id else one for one in self.facts]


def test_there_are_enough_histories():
    assert len(HISTORIES) >= 40


@pytest.mark.parametrize("history", HISTORIES, ids=lambda lines: lines[-1])
def test_what_holds_and_held_is_known(history):
    facts = PlainFacts()
    for minutes, line in enumerate(history):
        found = LINE.fullmatch(line)
        assert found, line
        at = datetime.fromisoformat(found["day"]).replace(hour=12, tzinfo=UTC) + timedelta(minutes=minutes)
        if found["what"] == ":":
            facts.say(found["text"], at)
        else:
            assert facts.ask(found["text"], at) == found["answer"], line


def test_what_is_told_again_adds_nothing():
    facts, at = PlainFacts(), datetime(2026, 1, 5, 12, tzinfo=UTC)
    for days in range(50):
        facts.say("I live in Munich. I love hiking. We decided to use PostgreSQL.", at + timedelta(days))
    assert len(facts.facts) == 3
