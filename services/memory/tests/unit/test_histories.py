"""Histories of changed facts, by rules and by a chat model's decisions: what holds now, and what held then."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_facts import SESSION, PlainFacts

from memory.facts.corrections import SaidBefore, corrected
from memory.facts.decided import DecidedFacts, SaidText, proved
from memory.facts.reconciliation import KnownFact, reconcile
from memory.facts.rules import statements
from memory.facts.statements import FactDecision, StatedFact

LINE = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)(?: (?P<time>\d\d:\d\d) (?P<zone>[\w/]+))?(?P<what>[:?]) (?P<text>.*?)"
    r"(?: (?P<how>[=~!]) (?P<answer>[^=~!]*))?"
)


def read_histories(name: str) -> list[list[str]]:
    """Returns the lines of each history in a file."""
    text = Path(__file__).with_name(name).read_text("utf-8")
    blocks = ([line for line in one.splitlines() if line[:2] == "20"] for one in re.split(r"\n\n+", text))
    return [lines for lines in blocks if lines]


def parsed(history: list[str]) -> Iterator[tuple[re.Match[str], datetime]]:
    """Yields each line, and its time, which is later than that of the line before on the same day."""
    for minutes, line in enumerate(history):
        found = LINE.fullmatch(line)
        assert found, line
        at = datetime.fromisoformat(f"{found['day']}T{found['time'] or '12:00'}")
        yield found, at.replace(tzinfo=ZoneInfo(found["zone"] or "UTC")) + timedelta(minutes=minutes)


HISTORIES, AT_WORK = read_histories("histories.txt"), read_histories("histories_at_work.txt")
BEGAN = datetime(2020, 1, 1, 12, tzinfo=UTC)


def test_the_data_set_has_enough_histories():
    assert len(HISTORIES) >= 40


class ModelFacts(PlainFacts):
    """Reads messages with the decisions of a chat model that understands exactly what the rules do."""

    def say(self, text: str, at: datetime) -> None:
        self.hear(text)
        own = ""
        zone = str(at.tzinfo)
        for statement in statements(text, at, zone):  # each as a message of its own, because numbers change
            known = self.known(at)
            before = SaidBefore(f"{self.before}\n{own}".strip(), known, SESSION)
            told_of, own = corrected(statement, before, at, zone), own if statement.subject is None else text
            if told_of is None:
                continue
            statement = told_of
            answer = DecidedFacts.model_validate_json(decided(text, statement, known, at))
            self.learn(proved(SaidText(text, at, zone), answer, known), at)


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
        "one_value": told.values == "one" or told.corrects,
        "corrects": told.corrects,
        "when": told.phrase,
        "tense": "past" if told.ends else "ahead" if told.starts and told.starts > at else "now",
    }
    return json.dumps({"decisions": [one]})


@pytest.mark.parametrize("facts_by", [PlainFacts, ModelFacts], ids=["rules", "model"])
@pytest.mark.parametrize("history", HISTORIES, ids=lambda lines: lines[-1])
def test_current_and_past_facts_are_known(history, facts_by):
    facts = facts_by()
    for line, at in parsed(history):
        if line["what"] == ":":
            facts.say(line["text"].replace("\\n", "\n"), at)
        else:
            assert facts.ask(line["text"], at) == line["answer"], line[0]


@pytest.mark.parametrize("history", AT_WORK, ids=lambda lines: lines[-1])
def test_what_is_said_at_work_answers_its_questions_and_no_others(history):
    facts = PlainFacts()
    for line, at in parsed(history):
        if line["what"] == ":":
            facts.say(line["text"].replace("\\n", "\n"), at)
            continue
        fact, quoted = facts.ask(line["text"], at), facts.quote(line["text"], at)
        match line["how"]:
            case "=":
                assert fact == line["answer"], line[0]
                assert fact != "-" or quoted == "-", line[0]
            case "~":
                assert fact == "-", line[0]
                assert line["answer"] in quoted, line[0]
            case "!":
                assert fact in ("-", line["answer"]), line[0]
                assert quoted == "-" or line["answer"] in quoted, line[0]


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
