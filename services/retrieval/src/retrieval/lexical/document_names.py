"""Checks the fields `title:` and `name:` of a query, as phrases are checked in a chunk's content.

A value is a word or a phrase by the rules of the document's own language. A value of only stop words is searched as
written, and `beginn*` at the beginning of any word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from relevance.analysis import Analyzer, folded, name_forms
from retrieval.lexical.conditions import line_of, phrase_of
from retrieval.text.query import PREFIXED

REMEMBERED = 128  # pairs of a value and a language


class NamedDocument(NamedTuple):
    """A document with its names; `analysed` if it is known to have the requested terms."""

    number: int
    chunks: int
    name: str
    title: str | None
    stemming: str
    analysed: bool = False


class NameCheck:
    """Checks the names of documents against `fields` of the query; a name stands in for a missing title."""

    def __init__(self, analyzer: Analyzer, fields: Mapping[str, Sequence[str]]) -> None:
        self.analyzer = analyzer
        self.of_title, self.of_name = fields.get("title", ()), fields.get("name", ())
        self._phrase = lru_cache(REMEMBERED)(partial(phrase_of, analyzer))
        self._terms_decide = lru_cache(REMEMBERED)(self._decided_by_terms)

    def __bool__(self) -> bool:
        return bool(self.of_title or self.of_name)

    def passes(self, document: NamedDocument) -> bool:
        """Returns whether the document matches all values."""
        if document.analysed and self._terms_decide(document.stemming):
            return True
        names = name_forms(document.name)
        titles = names if document.title is None else [document.title]
        return self._all(self.of_title, titles, document.stemming) and self._all(self.of_name, names, document.stemming)

    def terms(self, values: Sequence[str], stemming: str) -> list[str]:
        """Returns the terms that, by these rules, a title or name with these values must have."""
        whole = [value for value in values if not _beginning(value)]
        return sorted({term for value in whole for term in self.analyzer.terms(value, stemming)})

    def beginnings(self, values: Sequence[str]) -> list[str]:
        """Returns the beginnings that a title or name must contain, in lower case without accents."""
        return [folded(beginning) for beginning in map(_beginning, values) if beginning]

    def _decided_by_terms(self, stemming: str) -> bool:
        """Returns whether each value is one term, so that the check of the terms is enough."""
        values = [*self.of_title, *self.of_name]
        phrases = [self._phrase(value, stemming) for value in values if not _beginning(value)]
        return len(phrases) == len(values) and all(phrase and " " not in phrase for phrase in phrases)

    def _all(self, values: Sequence[str], texts: Sequence[str], stemming: str) -> bool:
        return all(self._has(value, texts, stemming) for value in values)

    def _has(self, value: str, texts: Sequence[str], stemming: str) -> bool:
        if beginning := _beginning(value):
            return self._has_beginning(folded(beginning), texts, stemming)
        if phrase := self._phrase(value, stemming):
            return any(f" {phrase} " in line_of(self.analyzer, text, stemming) for text in texts)
        return _stands(folded(value), texts)

    def _has_beginning(self, beginning: str, texts: Sequence[str], stemming: str) -> bool:
        """Returns whether a word, or a part of an identifier, begins with it."""
        holding = [text for text in texts if beginning in folded(text)]
        return _stands(beginning, holding, whole=False) or any(
            f" {beginning}" in line_of(self.analyzer, text, stemming) for text in holding
        )


def _beginning(value: str) -> str:
    """Returns the beginning to search for; empty if the value is not one."""
    return value.rstrip(PREFIXED).rstrip() if value.endswith(PREFIXED) else ""


def _stands(value: str, texts: Iterable[str], *, whole: bool = True) -> bool:
    """Returns whether a text has the value from the beginning of a word, and if `whole` to the end of one."""
    wanted = re.compile(
        (r"(?<!\w)" if re.match(r"\w", value) else "")
        + re.escape(value)
        + (r"(?!\w)" if whole and re.search(r"\w$", value) else "")
    )
    return any(wanted.search(folded(text)) for text in texts)
