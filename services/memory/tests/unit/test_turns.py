from datetime import UTC, datetime
from uuid import uuid4

import pytest

from contracts.events import TurnCompleted
from memory.episodes.turns import LONGEST_ANSWER, messages_of
from memory.secrets import BLANK, without_secrets


def turn(question: str, answer: str) -> TurnCompleted:
    ids = {name: uuid4() for name in ("session_id", "run_id", "user_id", "question_id", "answer_id")}
    return TurnCompleted(**ids, asked_at=datetime.now(UTC), question=question, answer=answer, document_ids=[])


def test_a_turn_is_stored_as_two_messages():
    messages = turn(" Who owns billing? ", "Team Heron [1].")
    question, answer = messages_of(messages)
    assert (question.id, question.role, question.speaker, question.content) == (
        messages.question_id,
        "user",
        "",
        "Who owns billing?",
    )
    assert (answer.id, answer.role, answer.content) == (messages.answer_id, "assistant", "Team Heron [1].")
    assert question.said_at == messages.asked_at < answer.said_at


@pytest.mark.parametrize(
    ("answer", "repeats"),
    [
        ("You live in Berlin. You said on 24 November 2026: I moved to Berlin.", True),
        ("Dein Sohn heißt Mattheo. Du sagtest am 26. November 2026: er heißt Mattheo.", True),
        ("Anna leads Atlas. Gina said on 5 May 2026: Anna leads it.", True),
        ("The report said so on 5 May 2026: nothing is decided.", False),
        ("You should take the train to Berlin.", False),
    ],
)
def test_an_answer_that_only_repeats_a_fact_is_no_memory_of_its_own(answer, repeats):
    assert messages_of(turn("Where do I live?", answer))[1].says_nothing is repeats


def test_a_long_answer_is_truncated():
    assert len(messages_of(turn("q", "a" * 10_000))[1].content) == LONGEST_ANSWER


SECRETS = [
    ("my password is hunter2", "hunter2"),
    ("The API key: 9f8e7d6c5b4a, use it", "9f8e7d6c5b4a"),
    ("Mein Passwort lautet Sommer2024!", "Sommer2024"),
    ("use sk-abcdefghijklmnop1234 for it", "abcdefghijklmnop"),
    ("AWS gave me AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
    ("ghp_abcdefghijklmnopqrstuvwxyz0123456789 is the token", "abcdefghijklmnop"),
    ("pay with 4111 1111 1111 1111 please", "1111 1111"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----", "MIIEow"),
    ("the secret is c2VjcmV0MTIzNDU2Nzg5MHNlY3JldDEyMzQ1Njc4OTA=", "c2VjcmV0"),
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_secrets_are_redacted(text, secret):
    kept = without_secrets(text)
    assert secret not in kept
    assert BLANK in kept


@pytest.mark.parametrize(
    "text",
    [
        "the password is wrong",
        "My order number is 4111 1111 1111 1112.",
        "Where do I change my password?",
        "See /usr/share/doc/packages/postgresql/README and ask Anna",
        "The run 1f0c2b6e-8d5f-4a64-9c8e-0f2f6b1c9d3a failed",
        "I live in Berlin and my phone number is 030 1234567.",
    ],
)
def test_text_that_is_not_a_secret_is_kept(text):
    assert without_secrets(text) == text
