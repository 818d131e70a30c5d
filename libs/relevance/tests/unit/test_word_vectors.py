"""How similar words are by the table of the bundled encoder."""

from __future__ import annotations

import pytest

from relevance.word_vectors import WordVectors

VECTORS = WordVectors()


@pytest.mark.parametrize(
    ("word", "synonym", "other"),
    [("car", "automobile", "invoice"), ("deaths", "mortality", "tokens"), ("approach", "method", "kidney")],
)
def test_a_synonym_is_more_similar_than_an_unrelated_word(word: str, synonym: str, other: str) -> None:
    assert VECTORS.alike(word, word) == pytest.approx(1)
    assert VECTORS.alike(word, synonym) > 0.4 > VECTORS.alike(word, other)
    assert VECTORS.alike(word, synonym) == pytest.approx(VECTORS.alike(synonym, word))


@pytest.mark.parametrize("word", ["", " ", "\ud800", "\x00", "x" * 10_000, "日本", "BillingRouter"])
def test_any_word_can_be_compared(word: str) -> None:
    assert -1.01 <= VECTORS.alike(word, "car") <= 1.01
