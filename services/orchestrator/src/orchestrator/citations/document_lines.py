"""Finds the lines at the head of a document that answer questions about the document: its author, its date."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from importlib.resources import files

from orchestrator.citations.analysis import WORDS
from orchestrator.citations.question import RELATED_WORDS, QuestionPart
from orchestrator.citations.terms import stem, terms
from relevance.designators import Designator

LEAST_NAMED = 0.6
"""Share of what a question is about that the document's title or file name must have, if it asks for a field."""
MOST_IN_BYLINE = 80  # words
_KINDS = frozenset({"person", "time", "duration", "amount", "name", ""})
# One kind of document a line, before the colon the series that has only such documents.
_LINES = files("orchestrator.citations").joinpath("document_kinds.txt").read_text("utf-8").splitlines()
_DOCUMENT_KINDS = [frozenset(map(stem, line.replace(":", "").split())) for line in _LINES]
_OF_SERIES = frozenset().union(*(kind for kind, line in zip(_DOCUMENT_KINDS, _LINES, strict=True) if ":" in line))
_OF_KINDS = frozenset().union(*_DOCUMENT_KINDS)
_OF_DATES = frozenset(map(stem, WORDS["takes place"] + WORDS["makes a document"]))
_OF_HEADS = frozenset(map(stem, WORDS["heads a document"]))
_AUTHOR = stem("author")
_DATE = re.compile(r"\b(?:date|day|when|datum|tag|wann)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_NO_NAMES = frozenset(WORDS["between names"])


def asks_about_document(question: QuestionPart, names: Callable[[str], bool], called: Collection[Designator]) -> bool:
    """Returns whether the question may ask for the author, the date and the like of the document with this name."""
    if question.kind not in _KINDS or question.kind == "amount":
        return False
    if question.called:
        return not question.called.isdisjoint(called)
    return _is_of_kind(question, names) and _is_about(_about(question), names)


def asks_for_kind(question: QuestionPart) -> bool:
    """Returns whether the question may ask for a field of a document of a kind whose documents say so in their names:
    "the UserDB incident"."""
    asks = question.kind in _KINDS and question.kind != "amount" and not question.called
    return asks and not question.terms.isdisjoint(_OF_SERIES) and bool(_about(question))


def is_asked_kind(question: QuestionPart, names: Callable[[str], bool]) -> bool:
    """Returns whether the document is named like one of the asked kind, and like what it is asked to be about."""
    of_kind = any(map(names, frozenset().union(*_asked_kinds(question))))
    return of_kind and _is_about(_about(question), names)


def field_answers(question: QuestionPart, column: str, names: Callable[[str], bool]) -> bool:
    """Returns whether the field `column` at the head of a document is what the question asks about that document.

    "Who wrote the PEP on data classes?" asks for `Author`, "When was the UserDB incident?" for `Date`. `names` tells
    whether the document is named with a term.
    """
    if question.kind not in _KINDS or not _is_of_kind(question, names) or only_says_who(question, column):
        return False
    about = question.terms - _OF_KINDS
    if question.kind in ("time", "duration") and _DATE.search(column):
        is_deed = question.deed and about.isdisjoint(_OF_DATES)
        event = about - _OF_DATES
        if event and not is_deed and all(map(names, event)):
            return True
    words = [term for word in _WORD.findall(column) for term in terms(word)]
    if not words:
        return False
    asked = {term for term in about if _same(term, words[-1])}
    return bool(asked) and _is_about(about - asked - frozenset(words), names)


def only_says_who(question: QuestionPart, column: str) -> bool:
    """Returns whether the field names a person ("Decided by"), and the question asks for something else."""
    return question.kind != "person" and column.casefold().endswith((" by", " von", " durch"))


def is_asked_byline(question: QuestionPart, text: str, names: Callable[[str], bool]) -> bool:
    """Returns whether the text consists of names, and the question asks who wrote the document."""
    asked = {term for term in question.terms if _same(term, _AUTHOR)}
    if question.kind != "person" or not asked or not _is_of_kind(question, names):
        return False
    words = _WORD.findall(text)
    if not 2 <= len(words) <= MOST_IN_BYLINE:
        return False
    only_names = all(word[0].isupper() or word in _NO_NAMES for word in words)
    return only_names and _is_about(question.terms - asked - _OF_KINDS, names)


def _about(question: QuestionPart) -> frozenset[str]:
    """Returns what the document is about that the question means, without the words for its kind and for its fields."""
    return question.terms - _OF_KINDS - _OF_DATES - _OF_HEADS


def _is_of_kind(question: QuestionPart, names: Callable[[str], bool]) -> bool:
    """Returns whether the document is not known to be of another kind than the question says: an incident is none."""
    asked = _asked_kinds(question)
    own = [kind for kind in _DOCUMENT_KINDS if any(map(names, kind))]
    return not asked or not own or any(kind in own for kind in asked)


def _asked_kinds(question: QuestionPart) -> list[frozenset[str]]:
    return [kind for kind in _DOCUMENT_KINDS if not kind.isdisjoint(question.terms)]


def _is_about(rest: frozenset[str], names: Callable[[str], bool]) -> bool:
    return bool(rest) and sum(map(names, rest)) >= LEAST_NAMED * len(rest)


def _same(term: str, word: str) -> bool:
    return term == word or word in RELATED_WORDS.get(term, ())
