"""What a message is about, by its words; and which topics a session keeps."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from contracts.world import WorldOperation
from memory.topics.keeping import MOST_REFLECTED, reflecting
from memory.topics.naming import topics_in
from memory.topics.reflection import ReflectedTopics, stated_topics
from memory.world.repository import StoredWorldEvent


@pytest.mark.parametrize(
    ("message", "topics"),
    [
        ("How do I rotate the signing keys of AuthService?", ["AuthService"]),
        ("Let's talk about the billing migration and its risks.", ["billing migration"]),
        ("Anna Berger's team owns Apollo now.", ["Anna Berger", "Apollo"]),
        ("Does Anna know PostgreSQL?", ["Anna", "PostgreSQL"]),
        ("Compare Postgres with MySQL on Mondays, please.", ["Postgres", "MySQL"]),
        ("Wie rotieren wir die Schlüssel im Vault?", ["Schlüssel", "Vault"]),
        ("Ich möchte über die Migration der Abrechnung sprechen.", ["Migration", "Abrechnung"]),
        ("What does user_id mean in config.yaml?", ["user_id", "config.yaml"]),
        ("We use Kafka, Redis, Neo4j and Celery.", ["Kafka", "Redis", "Neo4j"]),
    ],
)
def test_names_terms_and_what_somebody_asks_about_are_topics(message, topics):
    assert topics_in(message) == topics


@pytest.mark.parametrize(
    "message",
    [
        "Thanks! That helps.",
        "What did she say about that?",
        "Is it done?",
        "Guten Morgen! Kannst du mir helfen?",
        'She wrote: "Ask Berta about Gamma."',
        "> Berta asked about Gamma\nWhy?",
        "Is it `SELECT Gamma FROM Berta`?",
        "Why does 2024-05-03 matter?",
        "it is about [secret]",
        "",
    ],
)
def test_courtesies_quotations_numbers_and_secrets_are_no_topics(message):
    assert topics_in(message) == []


def test_a_model_names_no_topic_that_the_user_did_not_mention():
    found = ReflectedTopics(topics=["Token rotation", "vault", "NASA"])
    said = 'How does token rotation reach it? Berta wrote "in the vault".'
    assert stated_topics(said, found, []) == ["Token rotation"]
    assert stated_topics("And its rotation?", found, ["token rotation"]) == ["token rotation"]


def event(version: int, kind: str, op: str, value: str) -> StoredWorldEvent:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    return StoredWorldEvent(version, kind, op, "/topics", value, ["topics"], [[]], [], uuid4(), uuid4(), at)


def summarized(operations: list[WorldOperation]) -> list[tuple[str, object]]:
    return [(one.op.value, one.value) for one in operations]


def test_what_a_person_removed_from_the_topics_is_not_added_again():
    history = [event(3, "operation", "remove", "Apollo"), event(2, "reflected", "add", "Apollo")]
    assert summarized(reflecting([], history, ["apollo", "Gemini"])) == [("add", "Gemini")]


def test_the_oldest_topics_give_way_but_never_what_a_person_added():
    topics = [f"topic {number}" for number in range(MOST_REFLECTED)]
    history = [event(number + 2, "reflected", "add", topic) for number, topic in enumerate(topics)][::-1]
    operations = reflecting(["mine", *topics], history, ["new"])
    assert summarized(operations) == [("remove", "topic 0"), ("add", "new")]
    full = [f"mine {number}" for number in range(200)]
    assert reflecting(full, [], ["new"]) == []
