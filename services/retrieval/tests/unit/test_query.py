from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.text.query import FIELDS, MOST_OPERATORS, ParsedQuery, parse

PIECES = st.sampled_from(
    [
        '"',
        "“",
        "”",
        "«",
        "»",
        "-",
        "*",
        ":",
        " ",
        "\t",
        "title:",
        "tag:",
        "std::",
        "word",
        "zwei",
        "東京",
        "(",
        ")",
        "\\",
        "%",
    ]
)


@pytest.mark.parametrize(
    "text",
    ["std::vector", "http://x.org/a?b=c", "12:30", 'a 5" disk and a 6" one', '"unbalanced', "**bold**", "f(*args)",
     "a*", "-", '""', "tag:", "title: it", "title::x", "color:red", "-word", "--flag", "x-y", "mytag:x", "*", "a*b",
     "“", "\x00"],
)  # fmt: skip
def test_text_that_is_not_an_operator_stays_text(text):
    parsed = parse(text)
    assert parsed.words.split() == text.split()
    assert (parsed.phrases, parsed.prefixes, parsed.excluded, parsed.fields) == ((), (), (), {})


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('find "two  words" now', ParsedQuery("find two words now", "find  two words  now", phrases=("two words",))),
        ("„zwei Wörter“", ParsedQuery("zwei Wörter", "zwei Wörter", phrases=("zwei Wörter",))),
        ("« deux mots »", ParsedQuery("deux mots", "deux mots", phrases=("deux mots",))),
        ("auth* token", ParsedQuery("auth token", "token", prefixes=("auth",))),
        ("(see conn_po*, too)", ParsedQuery("(see conn_po , too)", "(see , too)", prefixes=("conn_po",))),
        ("東*", ParsedQuery("東", "", prefixes=("東",))),
        ("tag:Red language:de rust", ParsedQuery("rust", "rust", fields={"tag": ("Red",), "language": ("de",)})),
        ('TITLE:"two words" x', ParsedQuery("two words x", "two words  x", fields={"title": ("two words",)})),
        ("title:auto* x", ParsedQuery("auto x", "x", prefixes=("auto",), fields={"title": ("auto*",)})),
        ("name:a*", ParsedQuery("a", "a", fields={"name": ("a*",)})),
        ("tag:a tag:b, tag:a", ParsedQuery("a b", "", fields={"tag": ("a", "b")})),
    ],
)
def test_operators_are_parsed(query, expected):
    assert parse(query) == expected


def test_only_a_strict_query_excludes_words():
    parsed = parse('fast -slow -"not this" -tag:x', strict=True)
    assert (parsed.text, parsed.excluded) == ("fast", ("slow", "not this", "tag:x"))
    assert parse("fast -slow").text == "fast -slow"
    assert parse('fast -"not this"').phrases == ()


def test_operators_beyond_the_limit_are_text():
    parsed = parse(" ".join(f"word{n}*" for n in range(100)))
    assert len(parsed.prefixes) == MOST_OPERATORS
    assert "word99*" in parsed.words


@given(st.lists(PIECES | st.text(max_size=5), max_size=60).map("".join), st.booleans())
def test_any_text_is_a_query_and_no_word_is_lost(query, strict):
    parsed = parse(query, strict=strict)
    assert set(parsed.fields) <= set(FIELDS)
    values = [value for values in parsed.fields.values() for value in values]
    kept = " ".join([parsed.words, *parsed.prefixes, *parsed.excluded, *values])
    assert set("wordzwei東京") & set(query) - set("".join(FIELDS)) <= set(kept)


@pytest.mark.parametrize(
    "piece", ['"', '"a', "title:", 'title:"', "a*", "-", '-"', "a" * 50, "(", "“", "a.", "**", " "]
)
@pytest.mark.parametrize("strict", [False, True])
def test_a_million_characters_are_parsed(piece, strict):
    # Quadratic parsing would take hours.
    assert isinstance(parse(piece * (1_000_000 // len(piece)), strict=strict), ParsedQuery)


def test_naughty_strings_are_parsed():
    file = Path(__file__).parents[5] / "shared/eval/naughty-strings/blns.json"
    if not file.exists():
        pytest.skip("the naughty strings are not here (../shared/eval/naughty-strings)")
    for text in json.loads(file.read_text("utf-8")):
        assert parse(text).fields == {}
        assert parse(text, strict=True).text.split() or not text.split()
