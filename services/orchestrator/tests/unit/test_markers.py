"""Markers in a stream: whatever the cuts, nothing unchecked is shown, and nothing else is changed."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from orchestrator.citations.check import MarkerFilter, check
from orchestrator.citations.source import SourceText
from orchestrator.citations.support import CitedSpan

AUTH = "The AuthService issues tokens. Tokens expire after fifteen minutes."
BILLING = "The BillingRouter sends invoices every Monday. arr[7] is read twice."
PASSAGES = [AUTH, BILLING]
MARKER = re.compile(r"\[(\d+)\]")


def filtered(*pieces: str, passages: list[str] = PASSAGES) -> tuple[str, MarkerFilter]:
    markers = MarkerFilter(list(map(SourceText, passages)))
    text = "".join(markers.feed(piece) for piece in pieces)
    return text + markers.end(), markers


@pytest.mark.parametrize(
    ("answer", "expected", "removed"),
    [
        ("Tokens expire after minutes [1].", "Tokens expire after minutes [1].", 0),
        ("Invoices go out on Monday [2].", "Invoices go out on Monday [1].", 0),
        ("Tokens expire [1, 2].", "Tokens expire [1].", 1),
        ("Tokens expire, invoices are sent [1][2].", "Tokens expire, invoices are sent [1][2].", 0),
        ("Tokens and invoices 【1】 exist 【2†source】.", "Tokens and invoices [1] exist [2].", 0),
        ("Tokens and invoices [1-2].", "Tokens and invoices [1][2].", 0),
        ("Tokens expire [^1].", "Tokens expire [1].", 0),
        ("Tokens expire [9].", "Tokens expire.", 1),
        ("Tokens expire [9] soon.", "Tokens expire soon.", 1),
        ("Penguins swim [1].", "Penguins swim.", 1),
        ("Tokens expire. [1]", "Tokens expire. [1]", 0),
        ("Tokens expire.\n[1]\n", "Tokens expire.\n[1]\n", 0),
        ("[1] says that tokens expire. Good.", "[1] says that tokens expire. Good.", 0),
        ("- [2] Tokens are sold.\n- [2] Invoices.", "- Tokens are sold.\n- [1] Invoices.", 1),
        ("Tokens [1] and invoices [2], tokens [1].", "Tokens [1] and invoices [2], tokens [1].", 0),
        ("In 2024 [2024] and at [0], a list [ ] and [x].", "In 2024 [2024] and at [0], a list [ ] and [x].", 0),
        ("Use `a[1]` for tokens [1].", "Use `a[1]` for tokens [1].", 0),
        ("Use ``a[9]`b`` here.", "Use ``a[9]`b`` here.", 0),
        ("A stray ` and tokens [9].", "A stray ` and tokens.", 1),
        ("Code:\n```python\na[9] = b[1]\n```\nTokens [9].", "Code:\n```python\na[9] = b[1]\n```\nTokens.", 1),
        ("1. Do:\n   ~~~\n   a[9]\n   ~~~\ntokens [1]", "1. Do:\n   ~~~\n   a[9]\n   ~~~\ntokens [1]", 0),
        ("```not a fence``` but tokens [9].", "```not a fence``` but tokens.", 1),
        ("It says “tokens expire after fifteen minutes” [1].", "It says “tokens expire after fifteen minutes” [1].", 0),
        ("It says “tokens never expire at all” [1].", "It says “tokens never expire at all”.", 1),
        ('It says "Tokens ... fifteen minutes" [1].', 'It says "Tokens ... fifteen minutes" [1].', 0),
        ("An unfinished [1", "An unfinished [1", 0),
    ],
)
def test_only_valid_markers_are_shown(answer: str, expected: str, removed: int) -> None:
    text, markers = filtered(answer)
    assert text == expected
    assert markers.removed == removed


def test_a_marker_cites_the_sentence_that_supports_its_statement() -> None:
    _, markers = filtered("Tokens expire after a quarter of an hour, fifteen minutes [1]. A service issues tokens [1].")
    quotes = [AUTH[cited.start : cited.end] for cited in markers.cited]
    assert quotes == ["Tokens expire after fifteen minutes.", "The AuthService issues tokens."]
    assert [cited.number for cited in markers.cited] == [1, 2]


def test_an_incomplete_marker_is_never_shown() -> None:
    markers = MarkerFilter(list(map(SourceText, PASSAGES)))
    assert markers.feed("Tokens expire [") == "Tokens expire"
    assert markers.feed("1") == ""
    assert markers.feed("] and") == " [1] and"


PIECES = [
    "Tokens expire",
    " invoices",
    "[1]",
    "[2",
    "]",
    "[",
    "【1】",
    "[1, 9]",
    " ",
    "\n",
    "\n\n",
    "`",
    "``",
    "```",
    "~~~",
    ". ",
    "a[1]",
    "x",
    "[9]",
    "[3-5]",
    "†",
    ",",
    "[^2]",
    "- ",
    "é\n",
    "“tokens expire after fifteen minutes”",
]
TEXT = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


@settings(max_examples=300, deadline=None)
@given(TEXT, st.data())
def test_chunk_boundaries_do_not_matter(answer: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(answer)), max_size=8)))
    pieces = [answer[start:end] for start, end in zip([0, *cuts], [*cuts, len(answer)], strict=True)]
    whole, once = filtered(answer)
    cut, many = filtered(*pieces)
    assert cut == whole
    assert (many.cited, many.removed) == (once.cited, once.removed)


@settings(max_examples=300, deadline=None)
@given(TEXT)
def test_the_filtered_answer_passes_the_check(answer: str) -> None:
    text, markers = filtered(answer)
    checked = check(text, markers.cited, PASSAGES)
    if not markers.removed:  # a removal may join backticks, which makes other text code
        assert checked.content == text
        assert list(checked.cited) == markers.cited
    again = check(checked.content, checked.cited, PASSAGES)
    assert (again.content, again.cited, again.removed) == (checked.content, checked.cited, 0)
    for cited in checked.cited:
        assert PASSAGES[cited.passage - 1][cited.start : cited.end].strip()
        assert f"[{cited.number}]" in checked.content


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab .\n`~-é“”", max_size=80))
def test_text_without_markers_is_unchanged(answer: str) -> None:
    assert filtered(answer)[0] == answer


@settings(max_examples=200, deadline=None)
@example("[2[1]]")
@example("[[1]2[1]] [1[9], [9]2]")
@given(TEXT.filter(lambda text: "`" not in text and "~" not in text))
def test_no_number_is_shown_without_a_citation(answer: str) -> None:
    text, markers = filtered(answer)
    assert {int(number) for number in MARKER.findall(text)} <= {cited.number for cited in markers.cited}


def test_a_citation_that_is_not_a_span_is_refused() -> None:
    cited = [CitedSpan(1, 1, 0, 10), CitedSpan(2, 7, 0, 5), CitedSpan(3, 2, 0, 4_000), CitedSpan(4, 2, 4, 17)]
    checked = check("One [4]. Two [2]. Three [3]. Four [5].", cited, PASSAGES)
    assert checked.content == "One [1]. Two. Three. Four."
    assert checked.cited == [CitedSpan(1, 2, 4, 17)]
    assert checked.removed == 4  # three markers, and a citation that no marker names
