from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service_kit.sentences import BLOCKS, LINES, sentences


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text, BLOCKS)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ('He said "Stop." Then he left.', ['He said "Stop."', "Then he left."]),
        ("See Fig. 3 of Dr. Brown et al. Smith agrees.", ["See Fig. 3 of Dr. Brown et al. Smith agrees."]),
        ("Made by Acme Inc. in Jan. 2024. It works.", ["Made by Acme Inc. in Jan. 2024.", "It works."]),
        ("It is in the U.S. The rest is here.", ["It is in the U.S.", "The rest is here."]),
        ("apples, pears etc. Then more.", ["apples, pears etc.", "Then more."]),
        ("version 1.2. is out", ["version 1.2. is out"]),
        ("Am 4. Mai um 8. Danach nie.", ["Am 4. Mai um 8.", "Danach nie."]),
        ("これは文です。次の文。", ["これは文です。", "次の文。"]),
        (
            "wrapped\nprose goes on. Next.\n\n- a\n- b",
            ["wrapped\nprose goes on.", "Next.", "- a", "- b"],
        ),
        ("", []),
        (" \n ", []),
    ],
)
def test_prose_is_split_into_sentences(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


def test_line_breaks_end_sentences_if_requested() -> None:
    text = "one\ntwo. Three"
    assert [text[start:end] for start, end in sentences(text, LINES)] == ["one", "two.", "Three"]


@given(st.text(st.sampled_from("aA1 .!?\n-。\"'()")))
def test_sentences_omit_only_whitespace_and_never_overlap(text: str) -> None:
    found = sentences(text)
    assert "".join(text[start:end] for start, end in found).replace(" ", "").replace("\n", "") == "".join(text.split())
    assert all(before[1] <= after[0] for before, after in pairwise(found))
