"""Histories of changed facts, by rules and by a chat model's decisions: what holds now, and what held then."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_facts import SESSION, PlainFacts

from memory.facts.corrections import SaidBefore, corrected
from memory.facts.decided import DecidedFacts, SaidText, proved
from memory.facts.reconciliation import KnownFact, reconcile
from memory.facts.rules import statements
from memory.facts.statements import FactDecision, StatedFact

TEXT = Path(__file__).with_name("histories.txt").read_text("utf-8")
HISTORIES = [
    [line for line in one.splitlines() if not line.startswith("#")]
    for one in re.split(r"\n\n+", TEXT)
    if any(line[:2] == "20" for line in one.splitlines())
]
BEGAN = datetime(2020, 1, 1, 12, tzinfo=UTC)
LINE = re.compile(r"(?P<day>\d{4}-\d\d-\d\d)(?P<what>[:?]) (?P<text>.*?)(?: = (?P<answer>[^=]*))?")


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
