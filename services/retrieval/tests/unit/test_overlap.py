from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from retrieval.search.overlap import joined, overlap


def test_the_overlap_of_two_chunks_appears_once() -> None:
    text = "The first sentence is here. The second one is shared by both. The third ends it."
    whole, parts = joined([text[:61], text[28:]])
    assert whole == text
    assert parts == [(0, 61), (61, len(text))]


def test_chunks_without_an_overlap_are_joined_by_a_line_break() -> None:
    assert joined(["one", "two"]) == ("one\ntwo", [(0, 3), (4, 7)])
    assert joined([]) == ("", [])
    assert overlap("a b", "b a") == 0


def test_a_repetitive_text_is_compared_up_to_its_end() -> None:
    assert overlap("-" * 100 + "|", "-" * 40) == 0
    assert overlap("x" + "-" * 30, "-" * 30 + "y") == 30
    assert overlap("-" * 50, "-" * 30) == 30


@given(st.text("ab \n", min_size=1, max_size=300), st.lists(st.integers(0, 300), min_size=1, max_size=6))
def test_joining_chunks_loses_no_text(text: str, cuts: list[int]) -> None:
    bounds = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    pieces = [text[start:end] for start, end in pairwise(bounds)]
    whole, parts = joined(pieces)
    for piece, (start, end) in zip(pieces, parts, strict=True):
        assert piece.endswith(whole[start:end])
        assert whole[:end].endswith(piece)
