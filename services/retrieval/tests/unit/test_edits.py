from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from retrieval.lexical.edits import may_be_misspelt, one_edit_away


@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=4, max_size=10))
def test_words_one_edit_away_are_found(word):
    found = one_edit_away(word)
    assert {OSA.distance(word, other) for other in found} == {1}
    other = "x" if word[0] != "x" else "y"
    assert word + "x" in found
    assert word[:-1] in found
    assert (f"{other}{word}" in found) == (len(word) >= 6)


def test_words_in_other_alphabets_are_corrected():
    assert "запрос" in one_edit_away("запросс")
    assert "запрос" in one_edit_away("зарпос")


@pytest.mark.parametrize(
    ("term", "expected"),
    [("word", True), ("réseau", True), ("abc", False), ("v1.2.3", False), ("snake_case", False), ("a" * 33, False)],
)
def test_names_and_numbers_are_not_corrected(term, expected):
    assert may_be_misspelt(term) is expected
