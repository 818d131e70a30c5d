from __future__ import annotations

import pytest

from relevance.designators import asks_for_overview, designators, subject_of_overview


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What does PEP 589 add?", {("pep", "589")}),
        ("pep-0589.rst", {("pep", "589")}),
        ("RFC-2119 and RFC_9110", {("rfc", "2119"), ("rfc", "9110")}),
        ("inc-112-userdb-connections.md", {("inc", "112")}),
        ("SHA256, Python3x, 589, version 1.5 million", {("sha", "256"), ("version", "1")}),
        ("", set()),
    ],
)
def test_members_of_a_series_are_found_in_any_spelling(text: str, found: set[tuple[str, str]]) -> None:
    assert designators(text) == found


def test_only_upper_case_designators_count_if_required() -> None:
    assert designators("PEP 8 in section 3", in_capitals=True) == {("pep", "8")}


@pytest.mark.parametrize(
    "question",
    [
        "What is PEP 572 about?",
        "What does PEP 589 add?",
        "Summarize pep-0585",
        "Could you give me an overview of ADR-007, please?",
        "Worum geht es in ADR-007?",
        "Fasse INC-112 bitte kurz zusammen.",
        "What are PEP 604 and PEP 612 about?",
        "What happened in INC-231?",
        "What does ADR-019 decide?",
        "Was wurde in ADR-007 entschieden?",
    ],
)
def test_a_question_for_an_overview_is_recognised(question: str) -> None:
    assert asks_for_overview(question)


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote PEP 604?",
        "Who decided ADR-007?",
        "Why did INC-112 happen?",
        "What does PEP 636 say about guards?",
        "Summarize this.",
    ],
)
def test_other_questions_do_not_ask_for_an_overview(question: str) -> None:
    assert not asks_for_overview(question)


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("What is the Zen of Python?", "Zen Python"),
        ("Erkläre mir den Zuweisungsausdruck", "Zuweisungsausdruck"),
        ("Walrus operators?", ""),
    ],
)
def test_the_subject_of_an_overview_is_what_the_question_names(question: str, subject: str) -> None:
    assert subject_of_overview(question) == subject
