"""Which words of a sentence took the place of others of its source."""

from __future__ import annotations

import pytest

from orchestrator.citations.analysis import Analysis
from orchestrator.citations.judgement import judge
from orchestrator.citations.wording import MOST_WORDS, replaced, unlike
from relevance.word_vectors import WordVectors

ALIKE = WordVectors().alike
SOURCE = "The nightly export writes all invoices of the month to the archive bucket, and operators approve each run."


@pytest.mark.parametrize(
    ("sentence", "changed"),
    [
        ("The nightly export writes all invoices of the month to the archive bucket.", None),
        ("The nightly export writes all contracts of the month to the archive bucket.", ("contracts", "invoices")),
        ("All invoices of the month the nightly export writes to the archive bucket.", None),
        ("The nightly export quickly writes all invoices of the month to the archive bucket.", None),
        ("The nightly export writes all invoices of the month to the archive folder of the bucket.", None),
        ("The nightly export writes all bills of the month to the archive bucket.", ("bills", "invoices")),
    ],
)
def test_replaced_words_are_found_and_moved_or_added_ones_are_not(
    sentence: str, changed: tuple[str, str] | None
) -> None:
    assert replaced(Analysis(sentence), Analysis(SOURCE), unlike) == changed


@pytest.mark.parametrize(
    ("word", "verdict"), [("deaths", "verified"), ("mortality", "verified"), ("visitors", "contradicted")]
)
def test_a_synonym_is_not_a_replacement(word: str, verdict: str) -> None:
    source = "In the second year of the programme the mortality of the patients in the northern clinics fell sharply."
    assert judge(source.replace("mortality", word), source, alike=ALIKE).verdict == verdict


def test_units_are_compared_together_with_their_numbers() -> None:
    source = "The cache keeps sessions for 30 minutes by default."
    assert judge("The cache keeps sessions for 0.5 hours by default.", source, alike=unlike).verdict == "verified"


def test_very_long_texts_are_not_aligned() -> None:
    long = " ".join(f"word{at}x" for at in range(MOST_WORDS + 1))
    assert replaced(Analysis(long), Analysis(long.replace("word7x", "other")), unlike) is None
