"""Answers to messages that state something."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from memory.facts.acknowledgement import acknowledged
from memory.facts.answers import answer_text
from memory.facts.questions import fact_question
from memory.facts.repository import HeldFact

NOW = datetime(2026, 6, 5, 12, tzinfo=UTC)
FACT = HeldFact(uuid4(), "fact", "I moved to Berlin.", "user", "lives in", "Berlin", NOW, None, NOW, "")


def told(text, writing="on"):
    found = acknowledged(text, NOW, "UTC", writing)
    return (found.text, found.about_user) if found else None


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("I moved to Berlin.", ("Noted: I will remember this.", True)),
        ("My name is Ada", ("Noted: I will remember this.", True)),
        ("Call me Ada", ("Noted: I will remember this.", True)),
        ("Ich bin nach Berlin gezogen", ("Notiert: Das merke ich mir.", True)),
        ("Ich heiße Ada.", ("Notiert: Das merke ich mir.", True)),
        ("Please always answer in short sentences.", ("Noted: I will remember this.", True)),
        ("Please always answer in British spelling and without bullet points.", ("Noted: I will remember this.", True)),
        ("Bitte immer auf Deutsch und ohne Aufzählungen", ("Notiert: Das merke ich mir.", True)),
        ("We decided to use PostgreSQL.", ("Noted: I will remember this.", False)),
        ("We use PostgreSQL 18 since June, Marta Nowak leads it", ("Noted: I will remember this.", False)),
        ("Atlas is now owned by Ben", ("Noted: I will remember this.", False)),
        ("Wir nutzen seit Juni PostgreSQL 18.", ("Notiert: Das merke ich mir.", False)),
        ("Marta Nowak leitet Atlas.", ("Notiert: Das merke ich mir.", False)),
    ],
)
def test_what_is_told_is_acknowledged(text, answer):
    assert told(text) == answer


@pytest.mark.parametrize(
    "text",
    [
        "Where do I live?",
        "I moved to Berlin. What must I do?",
        "Write a summary of the report",
        "Write a one-page report in British spelling, without bullet points",
        "If I moved to Berlin, tell me the rules",
        "holidays in Berlin",
        'Translate: "I live in Rome"',
        "My password is hunter22",
    ],
)
def test_what_asks_or_states_nothing_is_not(text):
    assert told(text) is None


def test_a_request_that_begins_with_a_statement_does_not_hide_the_documents():
    assert told("I have a dog.") == ("Noted: I will remember this.", False)
    assert told("I have a question about holidays.") is None
    assert told("Ich habe eine Frage zum Urlaub.") is None


def test_what_is_not_kept_is_not_said_to_be():
    assert told("I moved to Berlin.", "off") is None
    assert told("I moved to Berlin.", "review") == ("Noted: I will remember this once it is approved.", True)


def test_an_answer_says_who_said_it_when_in_the_question_s_language():
    def answer(question, fact=FACT):
        asked = fact_question(question, NOW, "UTC")
        assert asked
        return answer_text(asked, fact if isinstance(fact, list) else [fact], "UTC")

    assert answer("Where do I live?") == "You live in Berlin. You said on 5 June 2026: I moved to Berlin."
    assert answer("Wo wohne ich?") == "Du wohnst in Berlin. Du sagtest am 5. Juni 2026: I moved to Berlin."
    assert answer("Wo wohnte ich im Mai?").startswith("Im Mai wohntest du in Berlin.")
    of_gina = replace(FACT, subject="Gina", speaker="Gina", content="I moved to Porto.", object="Porto")
    assert answer("Where does Gina live?", of_gina) == (
        "Gina lives in Porto. Gina said on 5 June 2026: I moved to Porto."
    )
    named = replace(FACT, predicate="name", object="Ada", content="Ich heiße Ada.")
    assert answer("Wie heiße ich?", named) == "Du heißt Ada. Du sagtest am 5. Juni 2026: Ich heiße Ada."


def told_of(question, *facts):
    asked = fact_question(question, NOW, "UTC", "Who leads Atlas?")
    assert asked
    return answer_text(asked, facts, "UTC")


LEADS = replace(FACT, subject="Atlas", predicate="lead", object="Marta Nowak", content="Marta Nowak leads Atlas.")


def test_who_leads_and_owns_is_told_with_who_said_it():
    said = "You said on 5 June 2026: Marta Nowak leads Atlas."
    assert told_of("Who leads Atlas?", LEADS) == f"Marta Nowak leads Atlas. {said}"
    assert told_of("Who led it in May?", LEADS) == f"In May Marta Nowak led Atlas. {said}"
    assert told_of("Wer leitete Atlas im Mai?", LEADS).startswith("Im Mai leitete Marta Nowak Atlas. Du sagtest am 5.")
    assert told_of("Who leads Atlas?", replace(LEADS, object="user")).startswith("You lead Atlas.")
    assert told_of("Wem gehört Atlas?", replace(LEADS, predicate="owner")).startswith("Atlas gehört Marta Nowak.")


def test_several_things_that_are_used_are_all_told():
    python = replace(FACT, subject="we", predicate="programming language", object="Python", content="We use Python.")
    go = replace(python, object="Go", content="We use Go.")
    assert told_of("Which language do we use?", python, go) == (
        "The language is Python and Go. You said on 5 June 2026: We use Python. You said on 5 June 2026: We use Go."
    )


def test_what_contradicts_is_told_too():
    other = replace(LEADS, object="Ben", content="Ben leads Atlas.")
    assert told_of("Who leads Atlas?", LEADS, other).endswith(
        "Something else was said, too: You said on 5 June 2026: Ben leads Atlas."
    )
