"""What the sources say to each sentence of an answer, and what is cited for it in the end."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from orchestrator.citations.assess import assess, assess_quotations, unchecked
from orchestrator.citations.check import MarkerFilter, check
from orchestrator.citations.judgement import judge
from orchestrator.citations.source import SourceText
from orchestrator.citations.writing import Assessed

AUTH = "The AuthService issues tokens. Tokens expire after fifteen minutes. The UserDB keeps the accounts."
BILLING = "The BillingRouter sends invoices every Monday. Project Atlas depends on AuthService. It bills 40 customers."
OWNERS = "| Service | Owner |\n|---|---|\n| AuthService | Ada Lovelace |\n| UserDB | Grace Hopper |"
PASSAGES = [AUTH, BILLING, OWNERS]
MARKER = re.compile(r" *\[\d+\]")


def assessed(answer: str, passages: list[str] = PASSAGES) -> Assessed:
    sources = list(map(SourceText, passages))
    markers = MarkerFilter(sources)
    text = markers.feed(answer) + markers.end()
    return assess(check(text, markers.cited, passages), sources)


def statuses_of(answer: str) -> list[tuple[str, str]]:
    found = assessed(answer)
    return [(one.status, found.content[one.start : one.end]) for one in found.sentences]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Tokens expire after fifteen minutes [1].", ("verified", "Tokens expire after fifteen minutes [1].")),
        ("Tokens expire after fifteen minutes.", ("verified", "Tokens expire after fifteen minutes [1].")),
        ("Tokens expire after fifteen minutes [2].", ("verified", "Tokens expire after fifteen minutes [1].")),
        ("Tokens expire after fifteen minutes. [1]", ("verified", "Tokens expire after fifteen minutes. [1]")),
        ("Tokens expire after 45 minutes [1].", ("contradicted", "Tokens expire after 45 minutes.")),
        ("Tokens expire after 45 minutes.", ("contradicted", "Tokens expire after 45 minutes.")),
        ("The AuthService does not issue tokens [1].", ("contradicted", "The AuthService does not issue tokens.")),
        ("The UserDB issues tokens [1].", ("unclear", "The UserDB issues tokens [1].")),
        ("Tokens are short-lived for security [1].", ("unclear", "Tokens are short-lived for security [1].")),
        ("Penguins swim in the sea.", ("unsupported", "Penguins swim in the sea.")),
        ("It expires.", ("unclear", "It expires.")),
        ("- The AuthService issues tokens", ("verified", "- The AuthService issues tokens [1]")),
        ("**The AuthService issues tokens.**", ("verified", "**The AuthService issues tokens.** [1]")),
        ("| AuthService | Ada Lovelace |", ("verified", "| AuthService | Ada Lovelace [1] |")),
        ("How long do tokens live?", ("not_a_claim", "How long do tokens live?")),
        ("## Tokens", ("not_a_claim", "## Tokens")),
        ("You're welcome!", ("not_a_claim", "You're welcome!")),
        ("I found nothing about penguins.", ("not_a_claim", "I found nothing about penguins.")),
        ("The passages do not mention penguins.", ("not_a_claim", "The passages do not mention penguins.")),
        (
            "It says “tokens expire after fifteen minutes. The UserDB keeps” [1].",
            ("verified", "It says “tokens expire after fifteen minutes. The UserDB keeps” [1]."),
        ),
        ("x" * 3_000, ("unclear", "x" * 3_000)),
    ],
)
def test_each_sentence_has_a_status_supported_by_its_citations(answer: str, expected: tuple[str, str]) -> None:
    assert statuses_of(answer) == [expected]


def test_citations_are_numbered_in_order_of_appearance() -> None:
    found = assessed("The AuthService issues tokens. Project Atlas depends on AuthService [2]. Tokens expire [1].")
    assert found.content == (
        "The AuthService issues tokens [1]. Project Atlas depends on AuthService [2]. Tokens expire [3]."
    )
    assert [(one.number, one.passage) for one in found.cited] == [(1, 1), (2, 2), (3, 1)]
    assert [list(one.citations) for one in found.sentences] == [[1], [2], [3]]
    assert [one.attributed for one in found.sentences] == [True, False, False]


def test_a_list_item_is_checked_together_with_its_introduction() -> None:
    found = statuses_of("These services issue tokens:\n- AuthService\n- UserDB\n")
    assert [status for status, _ in found] == ["not_a_claim", "unclear", "unclear"]
    assert statuses_of("This project depends on AuthService:\n- Project Atlas")[1] == (
        "verified",
        "- Project Atlas [1]",
    )


def test_code_is_not_checked() -> None:
    answer = "Run this:\n```\nThe AuthService issues tokens.\n```\nUse `a. The AuthService issues tokens.` here."
    assert assessed(answer).content.count("[1]") == assessed(answer).content.count(" here [1].")
    assert "```\nThe AuthService issues tokens.\n```" in assessed(answer).content


def test_without_sources_nothing_is_supported() -> None:
    assert [one.status for one in assessed("Tokens expire after fifteen minutes.", []).sentences] == ["unsupported"]


def test_quotes_are_verified_verbatim() -> None:
    cited = MarkerFilter([SourceText(AUTH)])
    text = cited.feed("From auth.md: “Tokens expire after fifteen minutes.” [1] “The AuthService issues tokens.” [1]")
    checked = check(text + cited.end(), cited.cited, [AUTH])
    found = assess_quotations(checked)
    assert found.content == checked.content
    assert [(one.status, list(one.citations)) for one in found.sentences] == [("verified", [1]), ("verified", [2])]


def test_a_truncated_sentence_is_unchecked() -> None:
    assert [one.status for one in unchecked("Tokens expire. They are issued by")] == ["unchecked", "unchecked"]


TRUE = [
    "Tokens expire after fifteen minutes.",
    "The BillingRouter sends invoices every Monday.",
    "Atlas depends on it.",
]
FALSE = ["Tokens expire after 99 minutes.", "The BillingRouter never sends invoices.", "Penguins swim.", "Hi!", "Why?"]
ODD = [
    "[",
    "]",
    "[1",
    "`",
    "```\n",
    "\n",
    "- ",
    "| a | b |\n",
    "“",
    "”",
    '"',
    "[2[1]]",
    "【1】",
    "*",
    "e.g. ",
    "…",
    "ß。",
]
pieces = st.lists(st.sampled_from([*TRUE, *FALSE, *ODD, " [1]", "[2]", " [9]", " "]), max_size=14).map("".join)


@settings(max_examples=300, deadline=None)
@given(pieces)
@example("[2[1]] Tokens expire after fifteen minutes [1].")
@example("Tokens expire after 99 minutes [2[1]].")
def test_only_markers_change_and_verified_sentences_are_in_their_source(answer: str) -> None:
    sources = list(map(SourceText, PASSAGES))
    markers = MarkerFilter(sources)
    streamed = markers.feed(answer) + markers.end()
    before = check(streamed, markers.cited, PASSAGES)
    found = assess(before, sources)
    assert MARKER.sub("", found.content) == MARKER.sub("", before.content)
    again = check(found.content, found.cited, PASSAGES)
    assert (again.content, list(again.cited), again.removed) == (found.content, list(found.cited), 0)
    assert [one.number for one in found.cited] == list(range(1, len(found.cited) + 1))
    last = 0
    for sentence in found.sentences:
        assert last <= sentence.start < sentence.end <= len(found.content)
        last = sentence.end
        assert sentence.status != "contradicted" or not sentence.citations
        bare = MARKER.sub("", found.content[sentence.start : sentence.end])
        if sentence.status == "verified" and not re.search('[“”"]', bare):
            assert sentence.passage is not None
            assert judge(bare, PASSAGES[sentence.passage - 1]).verdict == "verified"
