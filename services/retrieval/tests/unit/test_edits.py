from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.lexical.edits import distance, may_be_misspelt, one_edit_away

WORDS = st.text("abc", max_size=7)


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [("", "", 0), ("a", "", 1), ("query", "qurey", 1), ("retrieval", "retreival", 1), ("abc", "ca", 3),
     ("kitten", "sitting", 3)],
)  # fmt: skip
def test_distances(one, other, edits):
    assert distance(one, other) == edits


@given(WORDS, WORDS)
def test_a_distance_is_the_same_in_both_directions_and_0_for_equals_alone(one, other):
    assert distance(one, other) == distance(other, one) <= max(len(one), len(other))
    assert (distance(one, other) == 0) == (one == other)


@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=4, max_size=10))
def test_what_is_one_edit_away(word):
    found = one_edit_away(word)
    assert {distance(word, other) for other in found} == {1}
    other = "x" if word[0] != "x" else "y"
    assert word + "x" in found
    assert word[:-1] in found
    assert (f"{other}{word}" in found) == (len(word) >= 6)


def test_words_of_other_alphabets():
    assert "запрос" in one_edit_away("запросс")
    assert "запрос" in one_edit_away("зарпос")


@pytest.mark.parametrize(
    ("term", "expected"),
    [("word", True), ("réseau", True), ("abc", False), ("v1.2.3", False), ("snake_case", False), ("a" * 33, False)],
)
def test_names_and_numbers_are_not_misspelt(term, expected):
    assert may_be_misspelt(term) is expected
