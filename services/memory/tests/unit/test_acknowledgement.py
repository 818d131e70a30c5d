"""Answers to messages that state something."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from memory.facts.acknowledgement import acknowledged
from memory.facts.answers import answer_text
from memory.facts.corrections import SaidBefore
from memory.facts.profile import all_known, asks_for_all_known
from memory.facts.questions import fact_question
from memory.facts.reconciliation import KnownFact
from memory.facts.repository import HeldFact

NOW = datetime(2026, 6, 5, 12, tzinfo=UTC)
FACT = HeldFact(uuid4(), "fact", "I moved to Berlin.", "user", "lives in", "Berlin", NOW, None, NOW, "")

TOLD_BY_INES = "Ines: Atlas is led by Ben"
SHARED = HeldFact(uuid4(), "fact", "Atlas is led by Ben.", "Atlas", "lead", "Ben", NOW, None, NOW, "Ines")


@pytest.mark.parametrize(
    ("question", "listed"),
    [
        (
            "What do you know about me?",
            [
                "This is what I remember from you:",
                "- I moved to Berlin (5 June 2026)",
                f"- {TOLD_BY_INES} (5 June 2026)",
            ],
        ),
        (
            "Was weißt du über mich?",
            [
                "Das habe ich mir von dir gemerkt:",
                "- I moved to Berlin (5. Juni 2026)",
                f"- {TOLD_BY_INES} (5. Juni 2026)",
            ],
        ),
    ],
)
def test_all_that_is_known_of_who_asks_is_listed_in_the_words_in_which_it_was_told(question, listed):
    assert asks_for_all_known(question)
    assert all_known(question, [FACT, SHARED, FACT], "UTC").splitlines() == listed


def test_of_many_facts_the_newest_are_listed_and_the_others_counted():
    held = [replace(FACT, content=f"I know number {number}.") for number in range(23)]
    lines = all_known("What do you remember about me?", held, "UTC").splitlines()
    assert (len(lines), lines[-1]) == (22, "- and 3 more")


@pytest.mark.parametrize("question", ["What do you know about Atlas?", "What do you know about me and Atlas?", "Me?"])
def test_a_question_about_something_else_does_not_list_what_is_known_of_who_asks(question):
    assert not asks_for_all_known(question)


SISTER = KnownFact(uuid4(), "user's sister", "name", "Hanna", NOW, None, None, None)
TOLD = SaidBefore("My sister's name is Hanna.", [SISTER])
UNCLEAR = "I am not sure what this corrects, so I changed nothing. Please say it in a whole sentence."


def acknowledgement_of(text, writing="on", before=TOLD):
    found = acknowledged(text, NOW, "UTC", writing, before)
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
        ("Die Abnahme findet in Potsdam statt.", ("Notiert: Das merke ich mir.", False)),
        ("Katrin übernimmt im Januar Nordlicht.", ("Notiert: Das merke ich mir.", False)),
        ("Atlas nutzt PostgreSQL 18.", ("Notiert: Das merke ich mir.", False)),
        ("Björn leads Atlas.", ("Noted: I will remember this.", False)),
        ("Sorry, vertippt: er heißt Mattheo.", ("Notiert: Das merke ich mir.", True)),
        ("No, it's Anna, not Hanna.", ("Noted: I will remember this.", True)),
        ("Please remember: our supplier for printer paper is Hartmann.", ("Noted: I will remember this.", True)),
        ("Please remember that our printer paper comes from Hartmann.", ("Noted: I will remember this.", True)),
        ("Bitte merk dir, dass wir freitags liefern.", ("Notiert: Das merke ich mir.", True)),
    ],
)
def test_a_statement_by_the_user_is_acknowledged(text, answer):
    assert acknowledgement_of(text) == answer


@pytest.mark.parametrize(
    "text",
    [
        "Forget that I work in Lyon",
        "Can you forget what I said about Atlas?",
        "Please delete everything you know about me.",
    ],
)
def test_who_asks_to_forget_something_is_told_how(text):
    told, about_user = acknowledgement_of(text)
    assert told.startswith("A message deletes nothing. On the page Memory, or with `attractor memory forget`")
    assert about_user
    assert acknowledgement_of(text, writing="off") == (told, about_user)
    assert acknowledgement_of("Vergiss, dass ich in Lyon arbeite")[0].startswith("Eine Nachricht löscht nichts.")


@pytest.mark.parametrize(
    "text",
    [
        "Forget it, tell me about Atlas instead",
        "Delete everything about prices",
        "Lösche alles über Preise",
        "What did we forget in Lyon?",
        "Where do I live?",
        "I moved to Berlin. What must I do?",
        "Write a summary of the report",
        "Write a one-page report in British spelling, without bullet points",
        "If I moved to Berlin, tell me the rules",
        "holidays in Berlin",
        "No, it is about the second paragraph.",
        'Translate: "I live in Rome"',
        "My password is hunter22",
        "Please remember: my password is hunter22",
        "Remember to send the report.",
    ],
)
def test_questions_and_empty_phrases_are_not_acknowledged(text):
    assert acknowledgement_of(text) is None


def test_a_request_that_starts_with_a_statement_still_searches_the_documents():
    assert acknowledgement_of("I have a dog.") == ("Noted: I will remember this.", False)
    assert acknowledgement_of("I have a question about holidays.") is None
    assert acknowledgement_of("Ich habe eine Frage zum Urlaub.") is None


def test_the_acknowledgement_does_not_claim_that_unstored_facts_are_kept():
    assert acknowledgement_of("I moved to Berlin.", "off") is None
    assert acknowledgement_of("I moved to Berlin.", "review") == (
        "Noted: I will remember this once it is approved.",
        True,
    )


def test_an_answer_states_who_said_it_and_when_in_the_language_of_the_question():
    def answer(question, fact=FACT):
        parsed = fact_question(question, NOW, "UTC")
        assert parsed
        return answer_text(parsed, fact if isinstance(fact, list) else [fact], "UTC")

    assert answer("Where do I live?") == "You live in Berlin. You said on 5 June 2026: I moved to Berlin."
    assert answer("Wo wohne ich?") == "Du wohnst in Berlin. Du sagtest am 5. Juni 2026: I moved to Berlin."
    assert answer("Wo wohnte ich im Mai?").startswith("Im Mai wohntest du in Berlin.")
    of_gina = replace(FACT, subject="Gina", speaker="Gina", content="I moved to Porto.", object="Porto")
    assert answer("Where does Gina live?", of_gina) == (
        "Gina lives in Porto. Gina said on 5 June 2026: I moved to Porto."
    )
    named = replace(FACT, predicate="name", object="Ada", content="Ich heiße Ada.")
    assert answer("Wie heiße ich?", named) == "Du heißt Ada. Du sagtest am 5. Juni 2026: Ich heiße Ada."


def answer_to(question, *facts):
    parsed = fact_question(question, NOW, "UTC", "Who leads Atlas?")
    assert parsed
    return answer_text(parsed, facts, "UTC")


LEADS = replace(FACT, subject="Atlas", predicate="lead", object="Marta Nowak", content="Marta Nowak leads Atlas.")


def test_questions_about_leads_and_owners_are_answered_with_the_speaker():
    attribution = "You said on 5 June 2026: Marta Nowak leads Atlas."
    assert answer_to("Who leads Atlas?", LEADS) == f"Marta Nowak leads Atlas. {attribution}"
    assert answer_to("Who led it in May?", LEADS) == f"In May Marta Nowak led Atlas. {attribution}"
    assert answer_to("Wer leitete Atlas im Mai?", LEADS).startswith(
        "Im Mai leitete Marta Nowak Atlas. Du sagtest am 5."
    )
    assert answer_to("Who leads Atlas?", replace(LEADS, object="user")).startswith("You lead Atlas.")
    assert answer_to("Wem gehört Atlas?", replace(LEADS, predicate="owner")).startswith("Atlas gehört Marta Nowak.")


def test_all_values_of_a_multi_valued_fact_are_listed():
    python = replace(FACT, subject="we", predicate="programming language", object="Python", content="We use Python.")
    go = replace(python, object="Go", content="We use Go.")
    assert answer_to("Which language do we use?", python, go) == (
        "The language is Python and Go. You said on 5 June 2026: We use Python. You said on 5 June 2026: We use Go."
    )


def test_an_answer_about_languages_is_a_sentence():
    speaks = replace(FACT, subject="Pawel", predicate="speaks", object="Polish and Czech", content="He speaks them.")
    assert answer_to("Which languages does Pawel speak?", speaks).startswith("Pawel speaks Polish and Czech.")
    assert answer_to("Welche Sprachen spricht Pawel?", speaks).startswith("Pawel spricht Polish and Czech.")


def test_the_answer_names_what_there_is_a_number_of():
    licences = replace(FACT, subject="we", predicate="number of licences", object="14", content="We have 14 licences.")
    assert answer_to("How many licences do we have?", licences).startswith("The number of licences is 14.")
    assert answer_to("Wie viele Lizenzen haben wir?", licences).startswith("Lizenzen: 14.")


def test_a_relative_date_is_followed_by_the_day_that_it_meant():
    audit = replace(FACT, subject="audit", predicate="date", object="in three weeks", content="It is in three weeks.")
    assert answer_to("When is the audit?", audit).startswith("Audit: in three weeks (around 26 June 2026). You said")
    tomorrow = replace(audit, object="morgen", content="Die Prüfung ist morgen.", subject="Prüfung")
    assert answer_to("Wann ist die Prüfung?", tomorrow).startswith("Prüfung: morgen (6. Juni 2026). Du sagtest")


def test_contradicting_facts_are_mentioned_too():
    other = replace(LEADS, object="Ben", content="Ben leads Atlas.")
    assert answer_to("Who leads Atlas?", LEADS, other).endswith(
        "Something else was said, too: You said on 5 June 2026: Ben leads Atlas."
    )


def test_a_correction_of_nothing_is_not_acknowledged():
    assert acknowledgement_of("No, it's Anna, not Hanna.", before=SaidBefore()) is None


def test_a_correction_by_a_noun_is_noted_if_one_thing_is_known_by_it_and_asked_about_if_several_are():
    text = "I got that wrong, the supplier is Veltins"
    coffee, paper = (
        KnownFact(uuid4(), of, "supplier", "Hartmann", NOW, None, None, uuid4()) for of in ("coffee", "paper")
    )
    assert acknowledgement_of(text, before=SaidBefore("", [coffee])) == ("Noted: I will remember this.", False)
    assert acknowledgement_of(text, before=SaidBefore("", [coffee, paper])) == (UNCLEAR, True)
    assert acknowledgement_of(text, before=SaidBefore("", [SISTER])) is None


def test_a_correction_that_may_mean_the_question_before_it_is_asked_about():
    session = uuid4()
    home = KnownFact(uuid4(), "user", "lives in", "Hamburg", NOW, None, None, session)
    before = SaidBefore("Who founded Rome?", [home], session)
    assert acknowledgement_of("Sorry, I meant Troy.", before=before) == (UNCLEAR, True)
    assert acknowledgement_of("Sorry, I meant Troy.", before=SaidBefore("Who founded Rome?", [home], uuid4())) is None
