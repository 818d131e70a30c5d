"""Distinguishes texts about the subject of a question from those that only resemble it. No I/O."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from relevance.analysis import Analyzer

_WORD = re.compile(r"\w+")
_ASKING = "forget delete erase remember know tell told say said everything anything something all mention ever please"
_GERMAN = "vergiss lösche weißt erinnere alles sagte gesagt bitte"
_OF_ASKING = frozenset(f"{_ASKING} {_GERMAN}".split())


@dataclass(frozen=True)
class Subject:
    """What a question is about: the terms of its names and of its other words, each with the word itself."""

    names: dict[str, str]
    others: dict[str, str]

    @classmethod
    def of(cls, question: str, analyzer: Analyzer) -> Self:
        """Reads the subject of a question. Names are words with a capital within the sentence, or with a digit."""
        names, others = dict[str, str](), dict[str, str]()
        for place, word in enumerate(_WORD.findall(question)):
            if len(word) < 2 or word.casefold() in _OF_ASKING:
                continue
            is_name = (place > 0 and word[0].isupper()) or any(map(str.isdigit, word))
            (names if is_name else others).update(dict.fromkeys(analyzer.terms(word), word))
        return cls(names, {term: word for term, word in others.items() if term not in names})

    def words_in(self, terms: Sequence[str]) -> list[str]:
        """Returns which of the question's words a text with these terms has; none if it is about something else.

        It must have all names and half of the other words; if the question has no names, all words.
        """
        has = set(terms)
        named = [word for term, word in self.names.items() if term in has]
        others = [word for term, word in self.others.items() if term in has]
        enough = len(self.others) / 2 if self.names else len(self.others)
        return [*named, *others] if len(named) == len(self.names) and len(others) >= enough else []
