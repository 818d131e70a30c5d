"""`title:` and `name:` are analysed by the rules of the document's language, like its content."""

from __future__ import annotations

import pytest

from relevance.analysis import Analyzer
from retrieval.lexical.document_names import NameCheck, NamedDocument

ANALYZER = Analyzer()


def has(field: str, value: str, text: str, stemming: str = "english") -> bool:
    named = {"title": ("file.txt", text), "name": (text, "Something else")}[field]
    return NameCheck(ANALYZER, {field: [value]}).passes(NamedDocument(1, 1, *named, stemming))


@pytest.mark.parametrize("field", ["title", "name"])
@pytest.mark.parametrize(
    ("value", "text", "stemming"),
    [
        ("Reports", "Annual report of 2024", "english"),
        ("reporting", "ANNUAL REPORTS", "english"),
        ("annual reports", "The annual reporting of trade", "english"),
        ("state of the art", "State of an Art", "english"),
        ("Hauses", "Das Haus am See", "german"),
        ("sign", "AuthService.signToken", "english"),
        ("auth_service", "auth_service guide", "english"),
        ("CVE-2021-44228", "On CVE-2021-44228", "english"),
        ("東京", "東京都の地図", "english"),
        ("it", "IT handbook", "english"),
        ("the who", "The Who live", "english"),
        ("C++", "C and C++", "english"),
        ("auto*", "Automation for all", "english"),
        ("serv*", "AuthService", "english"),
        ("services*", "Services", "english"),
        ("東*", "地図 東京", "english"),
        ("Café", "CAFE culture", "english"),
    ],
)
def test_words_and_phrases_are_found(field, value, text, stemming):
    assert has(field, value, text, stemming)


@pytest.mark.parametrize("field", ["title", "name"])
@pytest.mark.parametrize(
    ("value", "text", "stemming"),
    [
        ("art", "Starting with carts", "english"),
        ("report annual", "Annual report", "english"),
        ("annual report", "Annual trade report", "english"),
        ("state art", "State of the art", "english"),
        ("it", "Situation", "english"),
        ("reports", "report", "simple"),
        ("%", "Anything", "english"),
        ("mation*", "Automation", "english"),
    ],
)
def test_partial_words_and_reordered_phrases_are_not_found(field, value, text, stemming):
    assert not has(field, value, text, stemming)


def test_a_name_is_found_with_and_without_its_extension():
    for value in ("annual report", "report.pdf", "pdf", ".pdf", "Annual Report.pdf"):
        assert has("name", value, "Annual Report.pdf"), value
        check = NameCheck(ANALYZER, {"title": [value]})
        assert check.passes(NamedDocument(1, 1, "Annual Report.pdf", None, "english")), value
        assert not check.passes(NamedDocument(1, 1, "Annual Report.pdf", "Trade", "english"))


def test_a_single_term_already_known_to_match_is_not_searched_again():
    known = NamedDocument(1, 1, "b.md", "Beta", "english", analysed=True)
    assert NameCheck(ANALYZER, {"title": ["alphas"], "name": ["md"]}).passes(known)
    for value in ("two words", "AuthService", "the", "alph*"):
        assert not NameCheck(ANALYZER, {"title": [value]}).passes(known), value


def test_all_values_must_match_and_without_any_nothing_is_checked():
    both = NameCheck(ANALYZER, {"title": ["guide", "alpha"], "name": ["md"]})
    assert both.passes(NamedDocument(1, 1, "a.md", "The Alpha Guide", "english"))
    assert not both.passes(NamedDocument(1, 1, "a.md", "The Beta Guide", "english"))
    assert not both.passes(NamedDocument(1, 1, "a.txt", "The Alpha Guide", "english"))
    assert not NameCheck(ANALYZER, {"tag": ["x"]})
