"""Replies to questions about the person who asks that no fact answers."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from contracts.memory import MemoryKind, MemoryScope, RecalledMemory, Said
from memory.facts.questions import fact_question
from memory.recall.unanswered import is_personal, unanswered

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
NOTHING = "I remember nothing about that."


def said(content, role="user", day=20, **more):
    return RecalledMemory(
        id=uuid4(),
        kind=MemoryKind.episode,
        content=content,
        scope=MemoryScope.user,
        session_id=uuid4(),
        document_ids=[],
        created_by=uuid4(),
        created_at=NOW,
        said_at=NOW.replace(day=day),
        said=Said(position=0, speaker="", role=role, time_zone="UTC"),
        fact=None,
        pinned=False,
        score=1.0,
        **more,
    )


def reply_to(question, *memories):
    found = unanswered(question, fact_question(question, NOW, "UTC"), memories, "UTC")
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
    told = [said("My boat is called Dolphin.", day=3), said("My boat is now called Heron!", day=12)]
    assert reply_to("What colour was my boat?", *told) == (
        "I have no direct answer to that. You said on 12 November 2026: My boat is now called Heron."
        " You said on 3 November 2026: My boat is called Dolphin."
    )


def test_a_fact_is_quoted_instead_of_the_message_that_also_says_something_else():
    fact = said("My office is in Vienna.").model_copy(update={"kind": MemoryKind.fact, "said": None})
    for told in (
        [fact, said("I live in Graz. My office is in Vienna.")],
        [said("I live in Graz. My office is in Vienna."), fact],
    ):
        assert reply_to("Where was my office?", *told) == (
            "I have no direct answer to that. You said on 20 November 2026: My office is in Vienna."
        )


def test_questions_answers_and_what_no_longer_holds_are_not_quoted():
    told = [
        said("Where did I live?"),
        said("You live in Graz.", role="assistant"),
        said("I live in Graz.", superseded=True),
    ]
    assert reply_to("Where did I live in May?", *told) == NOTHING
