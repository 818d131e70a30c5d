"""Replies to questions about the person who asks that no fact answers."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from plain_facts import TELLING
from said_messages import said_at

from contracts.memory import MemoryKind
from memory.facts.questions import fact_question
from memory.recall.unanswered import is_personal, told_before, unanswered

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
NOTHING = "I remember nothing about that."


def said(content, role="user", day=20, **more):
    return said_at(NOW.replace(day=day), content, role, **more)


def reply_to(question, *memories):
    found = unanswered(question, fact_question(question, NOW, "UTC"), memories, TELLING, "UTC")
    return found and found.text


def told(question, *memories):
    found = told_before(question, memories, TELLING, "UTC")
    return found and found.text


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("Where did I live in May?", NOTHING),
        ("What is my dog called?", NOTHING),
        ("When is my dentist appointment?", NOTHING),
        ("Wo habe ich im Mai gewohnt?", "Dazu habe ich mir nichts gemerkt."),
    ],
)
def test_without_anything_said_nothing_is_remembered(question, reply):
    assert reply_to(question) == reply


@pytest.mark.parametrize(
    "question",
    [
        "How do I reset my password?",
        "Can I take my dog to the office?",
        "Who leads Atlas?",
        "Wie ändere ich mein Kennwort?",
    ],
)
def test_other_questions_are_left_to_the_documents(question):
    assert reply_to(question, said("I live in Graz.")) is None
    assert not is_personal(question)


def test_what_was_said_about_it_is_quoted_with_its_day_the_newest_first():
    both = [said("My boat is called Dolphin.", day=3), said("My boat is now called Heron!", day=12)]
    assert reply_to("What colour was my boat?", *both) == (
        "I have no direct answer to that. You said on 12 November 2026: My boat is now called Heron."
        " You said on 3 November 2026: My boat is called Dolphin."
    )


def test_a_fact_is_quoted_instead_of_the_message_that_also_says_something_else():
    fact = said("My office is in Vienna.").model_copy(update={"kind": MemoryKind.fact, "said": None})
    for both in (
        [fact, said("I live in Graz. My office is in Vienna.")],
        [said("I live in Graz. My office is in Vienna."), fact],
    ):
        assert reply_to("Where was my office?", *both) == (
            "I have no direct answer to that. You said on 20 November 2026: My office is in Vienna."
        )


def test_questions_answers_and_what_no_longer_holds_are_not_quoted():
    unsaid = [
        said("Where did I live?"),
        said("You live in Graz.", role="assistant"),
        said("I live in Graz.", superseded=True),
    ]
    assert reply_to("Where did I live in May?", *unsaid) == NOTHING
    assert told("Where did I live?", *unsaid) is None


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("What colour was my boat?", "My boat is called Dolphin."),
        ("What is the name of my boat?", "We painted my boat dark green."),
        ("Do I have any allergies?", "I am allergic to nuts."),
        ("What did I say about the vendor?", "The vendor has raised its prices again."),
        ("Where did I go to school?", "I hated my school in Linz."),
        ("Which of my colleagues speak Spanish?", "My colleague Ana comes from Chile."),
        ("What do I drink?", "I love coffee."),
        ("When is my holiday?", "My vacation starts after the launch."),
        ("Who was my boss?", "My manager gave me the day off."),
        ("What is my salary?", "I earn 3,000 euros a month."),
        ("Wie heißt mein Hund?", "Mein Hund bellt zu viel."),
        ("Wo habe ich studiert?", "Ich habe Physik studiert."),
    ],
)
def test_what_is_quoted_has_to_do_with_the_question(question, message):
    reply = reply_to(question, said(message))
    assert reply
    assert reply.endswith(f": {message}")


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("Where do I live?", "I prefer short answers"),
        ("Where do I live?", "My manager is Paul."),
        ("What is my dog called?", "I prefer short answers."),
        ("What is the name of my boat?", "My name is Ada."),
        ("When is my dentist appointment?", "My flight to Oslo leaves on Monday."),
        ("Who is my landlord?", "I love hiking in the mountains."),
        ("Do I have any allergies?", "I speak fluent Spanish."),
        ("Where do I work?", "I prefer short answers."),
        ("How old is my son?", "My flight leaves on Monday."),
        ("Which car do I drive?", "I prefer tea over coffee."),
        ("What is my salary?", "I live in Graz."),
        ("Wo wohne ich?", "Ich mag kurze Antworten."),
        ("Wie heißt mein Hund?", "Ich heiße Ada."),
        ("What do I prefer?", "My colleague Bea prefers calls over emails."),
        ("Wo wohne ich?", "Meine Schwester wohnt in Graz."),
    ],
)
def test_what_is_beside_the_point_is_not_quoted(question, message):
    assert reply_to(question, said(message)) in (NOTHING, "Dazu habe ich mir nichts gemerkt.")


def test_who_asks_for_something_that_was_said_gets_the_sentence_that_tells_it_the_newest_first():
    room = [
        said("The microscope is in the basement. It is new.", day=3),
        said("By the way, the microscope has moved to room 4!", day=12),
    ]
    assert told("Where is the microscope?", *room) == (
        "You said on 12 November 2026: the microscope has moved to room 4."
        " You said on 3 November 2026: The microscope is in the basement."
    )
    assert told("Wo ist das Mikroskop?", said("Das Mikroskop steht in Raum 4.")) == (
        "Du sagtest am 20. November 2026: Das Mikroskop steht in Raum 4."
    )


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("Where is the meeting?", "The meeting room is in the basement."),
        ("When is the meeting?", "The meeting is in the basement."),
        ("Where is the meeting?", "The meeting is on Friday."),
        ("When is the meeting?", "The meeting is not on Friday."),
        ("Who supervises Carla?", "Carla supervises Lukas."),
        ("Who supervises Carla and Lukas?", "Ada supervises Carla."),
        ("How many people work in the office?", "Many people work in the office."),
        ("When is my deadline?", "Peter's deadline is on Friday."),
        ("When is our appraisal interview?", "My appraisal interview is on Friday."),
        ("Where is the spare key?", "Is the spare key in the drawer?"),
        ("When does the lease end?", "Please write a mail about the end of the lease in March."),
        ("What is the guest network?", "The guest network has changed."),
        ("Who is our supplier?", "Our old supplier is Hartmann."),
        ("When is the Friday meeting?", "The Friday meeting is cancelled."),
        ("Why is the spare key in the drawer?", "The spare key is in the drawer."),
    ],
)
def test_a_sentence_that_does_not_tell_what_is_asked_is_not_quoted(question, message):
    assert told(question, said(message)) is None


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("Wer ist unser Papierlieferant?", "Unser Lieferant für Papier ist Holtmann."),
        ("Wer ist unser Lieferant für Papier?", "Unser Papierlieferant ist Holtmann."),
        ("Who supplies our flour?", "Our supplier for flour is Brandt Mills."),
        ("Who designed the logo?", "The logo was designed by Ada Moll."),
    ],
)
def test_compounds_and_words_of_a_family_are_the_same(question, message):
    reply = told(question, said(message))
    assert reply
    assert reply.endswith(f": {message}")


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("Do we ship to Switzerland?", "We never ship to Switzerland."),
        ("Do we ship to Norway?", "We ship to Switzerland, not to Norway."),
        ("Do I prefer the train or flying?", "I prefer the train to flying."),
        ("Hat Frau Okoro Zugriff auf das Archiv?", "Frau Okoro hat keinen Zugriff auf das Archiv."),
        ("Liefern wir nach Bern?", "Wir liefern nicht nach Bern."),
        ("Why do I prefer the train?", "I prefer the train because I can work on it."),
        ("Warum nehmen wir den Lieferanten aus Kassel?", "Wir nehmen den Lieferanten aus Kassel, weil er schnell ist."),
        ("How heavy is the pallet?", "The pallet weighs 340 kg."),
        ("How wide is the pallet?", "The pallet weighs 340 kg and is 1.2 m wide."),
        ("Woher kommt der neue Praktikant?", "Der neue Praktikant kommt aus Dresden."),
        ("Where does the intern come from?", "The intern comes from Dresden."),
        ("How long does the backup take?", "The backup takes 45 minutes."),
        ("Who will take over the newsletter?", "Felix will take over the newsletter."),
        ("Until when does Ingrid work from home?", "Ingrid works from home until Christmas."),
        ("When does the shop open?", "We are not changing the hours, the shop still opens at 9."),
        ("When does the shipment leave?", "The shipmnet leaves on Tuesday."),
        ("What is the address of Falk?", "The adress of Falk is Harbour Street 12."),
        ("Wann habe ich Geburtstag?", "Mein Geburtstag ist am 5. Mai."),
    ],
)
def test_what_tells_it_is_quoted_whatever_sort_of_question_is_asked(question, message):
    reply = told(question, said(message))
    assert reply
    assert reply.endswith(f": {message}")


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("Do we ship to Norway?", "We never ship to Switzerland."),
        ("Does Atlas support SSO?", "I am not sure whether Atlas supports SSO."),
        ("Unterstützt Atlas SSO?", "Ich weiß nicht, ob Atlas SSO unterstützt."),
        ("Can you check the report?", "The report is long, please check it."),
        ("Wer hat Zugriff auf das Archiv?", "Frau Okoro hat keinen Zugriff auf das Archiv."),
        ("Why do I prefer the bus?", "I prefer the train because I can work on it."),
        ("How heavy is the pallet?", "The pallet costs 340 euros."),
        ("Where does the intern come from?", "The intern comes in the morning."),
        ("Where do I live?", "My sister lives in Graz."),
        ("When is the launch?", "I do not believe, that the launch is on Friday."),
        ("Wann ist der Launch?", "Ich glaube nicht, dass der Launch am Freitag ist."),
        ("When does B-2041 leave?", "B-2014 leaves on Tuesday."),
    ],
)
def test_what_is_denied_unknown_or_of_others_tells_nothing(question, message):
    assert told(question, said(message)) is None


@pytest.mark.parametrize(
    "revision",
    [
        "Sorry, the workshop starts at 10.",
        "The workshop starts at 10 instead.",
        "The workshop starts at 10, not at 9.",
        "I was wrong: the workshop starts at 10.",
    ],
)
def test_what_was_corrected_or_revised_is_no_longer_quoted(revision):
    reply = told("When does the workshop start?", said("The workshop starts at 9.", day=3), said(revision, day=12))
    assert reply
    assert "at 10" in reply
    assert "3 November" not in reply


def test_a_quoted_relative_date_is_followed_by_the_day_that_it_meant():
    assert told("When does the auditor come?", said("The auditor comes tomorrow.", day=20)) == (
        "You said on 20 November 2026: The auditor comes tomorrow (21 November 2026)."
    )
    assert told("Wann kommt die Prüferin?", said("Die Prüferin kommt in drei Wochen.", day=20)) == (
        "Du sagtest am 20. November 2026: Die Prüferin kommt in drei Wochen (um den 11. Dezember 2026)."
    )


@pytest.mark.parametrize(
    "message",
    [
        "As I said, Olga signs the invoices.",
        "As mentioned before, Olga signs the invoices.",
        "Like I told you last week, Olga signs the invoices.",
    ],
)
def test_who_repeats_what_they_said_reports_nobody_else(message):
    reply = told("Who signs the invoices?", said(message))
    assert reply
    assert reply.endswith(": Olga signs the invoices.")
    assert told("Who signs the invoices?", said("Vera said Olga signs the invoices.")) is None
