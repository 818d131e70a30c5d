"""What a cited passage says of a sentence: numbers, names, denials, opposites and directions, in two languages."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.citations.check import MarkerFilter
from orchestrator.citations.judgement import judge
from orchestrator.citations.numbers import Numbers, numbers
from orchestrator.citations.source import SourceText

CACHE = (
    "The cache keeps sessions for 30 minutes by default. Entries are written to Redis after each request. "
    "The scheduler depends on the broker. Metrics are not stored in the cache. "
    "In 2023 the company sold 1,500,000 licences, an increase of 10 % over 2022."
)
SPEICHER = (
    "Der Zwischenspeicher hält Sitzungen für 30 Minuten. Passwörter werden nicht im Klartext gespeichert. "
    "Der Planer hängt vom Broker ab. Im Jahr 2023 stieg der Umsatz um 1,5 Millionen Euro."
)


@pytest.mark.parametrize(
    "sentence",
    [
        "The cache keeps sessions for 30 minutes by default.",
        "By default the cache keeps sessions for exactly 30 minutes.",
        "The cache keeps sessions for 0.5 hours by default.",
        "In 2023 the company sold 1.5 million licences.",
        "In 2023 the company sold about 1.48 million licences.",
        "The scheduler depends on the broker.",
        "Metrics aren't stored in the cache.",
        "Entries are written to Redis after each request.",
    ],
)
def test_a_sentence_stated_by_its_source_is_verified(sentence: str) -> None:
    assert judge(sentence, CACHE).verdict == "verified", judge(sentence, CACHE)


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("The cache keeps sessions for 45 minutes by default.", "number 45"),
        ("The cache keeps sessions for 30 hours by default.", "number 30"),
        ("In 2023 the company sold 1.5 billion licences.", "number 1.5"),
        ("In 2023 the company sold 1,500,000 licences, an increase of 10 points over 2022.", "number 10"),
        ("In 2021 the company sold 1,500,000 licences.", "number 2021"),
        ("The cache does not keep sessions for 30 minutes by default.", "denies"),
        ("Metrics are stored in the cache.", "denies"),
        ("Entries are written to PostgreSQL after each request.", "PostgreSQL"),
        ("Entries are written to Redis before each request.", "before"),
        ("In 2023 the company sold 1,500,000 licences, a decrease of 10 % over 2022.", "decrease"),
        ("The broker depends on the scheduler.", "other way round"),
    ],
)
def test_an_altered_sentence_is_contradicted(sentence: str, reason: str) -> None:
    judged = judge(sentence, CACHE)
    assert judged.verdict == "contradicted", judged
    assert reason in judged.reason


@pytest.mark.parametrize(
    ("sentence", "verdict"),
    [
        ("Der Zwischenspeicher hält Sitzungen für 30 Minuten.", "verified"),
        ("Der Zwischenspeicher hält Sitzungen für 45 Minuten.", "contradicted"),
        ("Passwörter werden nicht im Klartext gespeichert.", "verified"),
        ("Passwörter werden im Klartext gespeichert.", "contradicted"),
        ("Der Zwischenspeicher hält Sitzungen nicht für 30 Minuten.", "contradicted"),
        ("Im Jahr 2023 stieg der Umsatz um 1.500.000 Euro.", "verified"),
        ("Im Jahr 2023 sank der Umsatz um 1,5 Millionen Euro.", "contradicted"),
        ("Im Jahr 2024 stieg der Umsatz um 1,5 Millionen Euro.", "contradicted"),
        ("Der Broker hängt vom Planer ab.", "contradicted"),
    ],
)
def test_german_word_lists_are_used(sentence: str, verdict: str) -> None:
    assert judge(sentence, SPEICHER).verdict == verdict, judge(sentence, SPEICHER)


@pytest.mark.parametrize(
    ("sentence", "verdict"),
    [
        ("Le cache garde les sessions pour 30 minutes dans AuthService.", "verified"),
        ("Le cache garde les sessions pour 45 minutes dans AuthService.", "contradicted"),
        ("Le cache garde les sessions pour 30 minutes dans PayService.", "contradicted"),
    ],
)
def test_other_languages_are_compared_by_numbers_and_names(sentence: str, verdict: str) -> None:
    assert judge(sentence, "Le cache garde les sessions pour 30 minutes dans AuthService.").verdict == verdict


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("The option is not enabled.", "The option is disabled."),
        ("The node is unavailable during upgrades.", "The node is not available during upgrades."),
        ("The cache is optional, and it is not persisted.", "The cache is optional."),
        ("At most 5 attempts are made; no more than 5 are counted.", "At most 5 attempts are made."),
        ("The gateway is called by the client.", "The client calls the gateway."),
        ("Tokens must not be logged.", "It is forbidden to log tokens."),
        ("The World Health Organization recommends masks.", "The WHO recommends masks."),
    ],
)
def test_a_paraphrase_is_not_contradicted(source: str, sentence: str) -> None:
    assert judge(sentence, source).verdict != "contradicted", judge(sentence, source)


@pytest.mark.parametrize(
    ("source", "sentence", "reason"),
    [
        ("Storage is available during upgrades.", "Storage is unavailable during upgrades.", "opposite"),
        ("Basic costs 5 euros and Premium costs 9 euros.", "Basic costs 9 euros and Premium costs 5 euros.", "places"),
        ("The client calls the gateway.", "The gateway calls the client.", "other way round"),
        ("UserDB depends on AuthService.", "AuthService depends on UserDB.", "other way round"),
        ("AuthService braucht UserDB.", "UserDB braucht AuthService.", "other way round"),
        ("AuthService calls UserDB.", "UserDB calls AuthService.", "other way round"),
        (
            "The nightly export writes all invoices of the month to the archive bucket.",
            "The nightly export writes all contracts of the month to the archive bucket.",
            "contracts",
        ),
        ("Redis is not needed, but PostgreSQL is.", "PostgreSQL is not needed, but Redis is.", ""),
    ],
)
def test_swapped_places_opposites_and_scopes_are_contradicted(source: str, sentence: str, reason: str) -> None:
    judged = judge(sentence, source)
    assert judged.verdict == "contradicted", judged
    assert reason in judged.reason


def kept(answer: str, *passages: str, headings: tuple[str, ...] = ()) -> bool:
    markers = MarkerFilter(list(map(SourceText, passages, headings or [""] * len(passages))))
    markers.feed(answer)
    markers.end()
    return not markers.removed


def test_a_contradicted_sentence_loses_its_marker_and_a_paraphrase_keeps_it() -> None:
    assert kept("The cache keeps sessions for 30 minutes [1].", CACHE)
    assert not kept("The cache keeps sessions for 45 minutes [1].", CACHE)
    assert kept("Whoever is idle too long has to sign in again, as the cache forgets people [1].", CACHE)


def test_a_verbatim_match_in_another_source_changes_the_citation() -> None:
    other = "A cache invalidation message travels to every replica within seconds of a schema migration."
    assert kept(f"{other.removesuffix('.')} [2].", CACHE, other)
    assert not kept(f"{other.removesuffix('.')} [1].", CACHE, other)


def test_a_sentence_supported_by_two_sources_cites_both() -> None:
    assert kept(
        "Basic costs 5 euros and Premium costs 9 euros [1][2].", "Basic costs 5 euros.", "Premium costs 9 euros."
    )


def test_a_heading_supplies_the_missing_name() -> None:
    assert not kept("AuthService keeps sessions for 30 minutes by default [1].", CACHE)
    assert kept("AuthService keeps sessions for 30 minutes by default [1].", CACHE, headings=("AuthService",))


def test_list_numbers_are_not_claims() -> None:
    assert kept("7. The cache keeps sessions for 30 minutes by default [1].", CACHE)


@given(st.integers(13, 10**12))
def test_a_number_is_recognised_in_any_notation(value: int) -> None:
    there = Numbers(numbers(f"about {value:,} rows"))
    for written in (str(value), f"{value:,}", f"{value:,}".replace(",", "."), f"{value}.0"):
        assert all(there.has(one) for one in numbers(f"with {written} rows"))
    assert not any(there.has(one) for one in numbers(f"with {2 * value} rows"))


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_is_judged_without_an_error(sentence: str, passage: str) -> None:
    assert 0 <= judge(sentence, passage).share <= 1


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([*CACHE.split(), *SPEICHER.split(), "not", "nicht", "$", "1,5"]), max_size=30))
def test_a_verbatim_copy_is_never_contradicted(words: list[str]) -> None:
    text = " ".join(words)
    assert judge(text, text).verdict != "contradicted", judge(text, text)


def test_a_hostile_sentence_is_judged_without_an_error() -> None:
    """Uses ten thousand words that all trigger a rule."""
    text = "Abc1 depends not on 1.5 increase " * 1_700
    assert judge(text, text[:8_000]).verdict


@pytest.mark.parametrize(
    ("source", "sentence", "verdict"),
    [
        ("The AuthService issues tokens.", "Tokens issue the AuthService.", "unclear"),
        ("The AuthService issues tokens.", "Tokens are issued by the AuthService.", "verified"),
        ("By default Redis stores sessions.", "Redis stores sessions by default.", "verified"),
    ],
)
def test_swapped_words_around_an_unlisted_verb_are_detected(source: str, sentence: str, verdict: str) -> None:
    assert judge(sentence, source).verdict == verdict, judge(sentence, source)
