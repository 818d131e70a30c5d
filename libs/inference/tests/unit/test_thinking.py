import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.thinking import ThinkingSplitter


def split(pieces: list[str]) -> tuple[str, str]:
    splitter = ThinkingSplitter()
    deltas = [delta for piece in pieces for delta in splitter.feed(piece)] + splitter.end()
    return "".join(delta.text for delta in deltas), "".join(delta.thinking for delta in deltas)


@pytest.mark.parametrize(
    ("content", "text", "thinking"),
    [
        ("plain", "plain", ""),
        ("<think>hm</think>yes", "yes", "hm"),
        ("\n <think>hm\n</think>\n\nyes\n", "\n yes\n", "hm\n"),
        ("one\n<think>hm</think>two<think>x", "one\ntwo<think>x", "hm"),
        ("<think>a</think><think>b</think>c", "c", "ab"),
        ("<think>never closed </thin", "", "never closed </thin"),
        ("a < b <thin", "a < b <thin", ""),
        ("say `<think>` twice `<think>`", "say `<think>` twice `<think>`", ""),
    ],
)
def test_text_is_split_the_same_way_whole_and_letter_by_letter(content: str, text: str, thinking: str) -> None:
    assert split([content]) == (text, thinking)
    assert split(list(content)) == (text, thinking)


@given(st.lists(st.sampled_from(["<think>", "</think>", "<th", "ink>", "</", "\n", " ", "a"])))
def test_chunk_boundaries_make_no_difference(pieces: list[str]) -> None:
    assert split(pieces) == split(["".join(pieces)])


def test_plain_text_is_not_held_back() -> None:
    assert [delta.text for delta in ThinkingSplitter().feed("word ")] == ["word "]
