"""What goes wrong in other memories: echoes, lost contradictions, facts that retire others' facts, wrong speakers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_facts import PlainFacts

from memory.facts.rules import statements
from memory.facts.statements import StatedFact

BEGAN = datetime(2026, 1, 5, 12, tzinfo=UTC)
PLACES = ("Berlin", "Lisbon", "Oslo")
CONTRARY = st.lists(
    st.tuples(
        st.sampled_from(
            ("I live in {}.", "I moved to {}.", "Actually, I live in {}.", "No, I live in {}.", "I'm moving to {}.")
        ),
        st.sampled_from(PLACES),
    ),
    min_size=1,
    max_size=8,
)


def read(text: str, at: datetime = BEGAN, speaker: str = "user", time_zone: str = "UTC") -> list[StatedFact]:
    return list(statements(text, at, time_zone, speaker))


@given(said=CONTRARY)
def test_whatever_contradicts_what_something_is_always_left_to_hold(said):
    """Each statement contradicts the one before it; at no time after the first is nothing known."""
    facts = PlainFacts()
    for day, (sentence, place) in enumerate(said):
        at = BEGAN + timedelta(day)
        facts.say(sentence.format(place), at)
        assert facts.ask("Where do I live?", at) == place


def test_an_answer_that_repeats_a_fact_a_hundred_times_adds_nothing():
    for echo in (
        "You live in Berlin. You said on 5 January 2026: I live in Berlin.",
        '"I live in Berlin" is what you said.',
        "> I live in Berlin",
        "<memory>I live in Berlin.</memory>",
        "As I said, you told me: I live in Berlin.",
        "Do I live in Berlin?",
    ):
        assert read(" ".join([echo] * 100)) == [], echo


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("Anna lives in Paris.", "Ben lives in Rome."),
        ("My sister works at Bosch.", "I work at Siemens."),
        ("Our launch is on 12 March.", "Our offsite is on 3 May."),
        ("Our contact at Norvik is Piet.", "Our contact at Halden is Mia."),
        ("I like tea.", "I like coffee."),
        ("My meeting with Anna is on Monday.", "My meeting with Ben is on Tuesday."),
        ("The marketing budget is 20,000 euros.", "The travel budget is 5,000 euros."),
    ],
)
def test_a_fact_retires_no_fact_about_another_subject_or_of_a_predicate_with_many_values(first, other):
    facts = PlainFacts()
    for text in (first, other):
        facts.say(text, BEGAN)
    assert [(one.object, one.valid_to) for one in facts.facts] == [
        (statement.object, None) for text in (first, other) for statement in read(text)
    ]


@pytest.mark.parametrize(
    ("text", "subjects"),
    [
        ("Anna lives in Paris.", ["Anna"]),
        ("My brother moved to Madrid.", ["user's brother"]),
        ("Our office is in Potsdam.", ["office"]),
        ("The deadline for the report is 15 March.", ["report"]),
        ("He lives in Rome.", []),
        ("Anna said that I live in Rome.", []),
        ("I live in Rome.", ["user"]),
    ],
)
def test_the_speaker_is_the_subject_only_where_the_sentence_says_so(text, subjects):
    assert [one.subject for one in read(text)] == subjects
    assert [one.subject for one in read(text, speaker="Gina")] == [one.replace("user", "Gina") for one in subjects]


@pytest.mark.parametrize(
    ("time_zone", "day"), [("UTC", 9), ("America/New_York", 8), ("Asia/Tokyo", 9), ("Pacific/Kiritimati", 9)]
)
def test_yesterday_is_the_day_before_the_message_in_its_own_zone(time_zone, day):
    at = datetime(2026, 1, 10, 2, 30, tzinfo=UTC)  # long before this test runs
    [stated] = read("I moved to Berlin yesterday.", at, time_zone=time_zone)
    assert stated.starts is not None
    assert (stated.starts.year, stated.starts.month, stated.starts.day) == (2026, 1, day)
    assert stated.phrase == "yesterday"
    assert stated.starts.tzinfo is not None
