"""Turns text into index terms, the same for documents and queries. No IO.

Words are lower-cased and stemmed by the rules of a language (`languages.py`), without Latin accents; stop words are
dropped. Identifiers are kept whole and in their parts. Runs of Chinese, Japanese and Korean become bigrams.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from pathlib import PurePath

from relevance.languages import ENGLISH, Stemming, load_stemming

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
# Vowel signs and points: parts of words in these scripts that \w does not match.
_MARKS = "\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0dff\u0e31-\u0e4e\u0eb1-\u0ecd\u1000-\u109f"
_LETTERS = f"(?:[^\\W{_CJK}]++|[{_MARKS}]++)++"
_UNIT = re.compile(f"{_LETTERS}(?:['’.-]{_LETTERS})*+|[{_CJK}]++")
_IS_CJK = re.compile(f"[{_CJK}]")
_POSSESSIVE = re.compile(r"['’][sS]$")
_JOINTS = re.compile(r"[._-]+")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^A-Za-z]+")
_HUMP = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
_ACCENTS = re.compile("[\u0300-\u036f]")
LONGEST_TERM = 64  # characters; longer ones are not words, and an index entry has to fit a page
REMEMBERED = 1 << 16  # words, of all languages


@dataclass(frozen=True)
class TermCounts:
    """The term frequencies of a text, and its length, which is their sum."""

    frequencies: dict[str, int]
    length: int


class Analyzer:
    """Turns text into terms. Thread-safe. `stemming` is the name of a language's rules, from `stemming_of`."""

    def __init__(self) -> None:
        self._stemmings: dict[str, Stemming] = {}
        self._of_unit = lru_cache(REMEMBERED)(self._analysed)

    def terms(self, text: str, stemming: str = ENGLISH) -> list[str]:
        """Returns the terms in order, including repeats."""
        return list(filter(None, self.places(text, stemming)))

    def places(self, text: str, stemming: str = ENGLISH) -> list[str]:
        """Returns the terms in order, with an empty one for each stop word."""
        of_unit, found = self._of_unit, list[str]()
        for unit in _UNIT.findall(_normalised(text)):
            found += of_unit(unit, stemming)
        return found

    def readings(self, text: str, stemmings: Sequence[str]) -> list[tuple[str, ...]]:
        """Returns for each place the different terms by the rules of the languages, including repeats.

        The text is taken to be in the language that has the most stop words in it (the first of several). These are
        dropped if other words are left; a stop word of another language may be a word of this one.
        """
        columns = list[tuple[str | None, ...]]()
        for unit in _UNIT.findall(_normalised(text)):
            columns += zip_longest(*(self._of_unit(unit, stemming) for stemming in stemmings))
        if not columns:
            return []
        by_language = list(zip(*columns, strict=True))
        language = max(by_language, key=lambda column: column.count(""))
        places = [tuple(dict.fromkeys(filter(None, place))) for place in columns]
        left = [terms for terms, own in zip(places, language, strict=True) if own != ""]
        return left or [terms for terms in places if terms]

    def terms_of_words(self, words: Iterable[str], stemming: str = ENGLISH) -> set[str]:
        """Returns the terms of many words that are unlikely to be asked for again: they are not remembered. Lower-case
        words of ASCII letters, which have no parts, take a quarter of the time.
        """
        rules, found = self._rules(stemming), set[str]()
        for word in words:
            if word.isascii() and word.isalpha() and word.islower():
                found.add("" if word in rules.stop_words else _stemmed(word, rules))
            else:
                found.update(term for unit in _UNIT.findall(_normalised(word)) for term in _terms_of_unit(unit, rules))
        return found - {""}

    def analyse(self, *texts: str, stemming: str = ENGLISH) -> TermCounts:
        """Returns the term frequencies over all of the texts."""
        frequencies = Counter[str]()
        for text in texts:
            frequencies.update(self.terms(text, stemming))
        return TermCounts(dict(frequencies), frequencies.total())

    def _analysed(self, unit: str, stemming: str) -> tuple[str, ...]:
        """Returns the terms of a word, an identifier, or a run of ideograms."""
        return tuple(_terms_of_unit(unit, self._rules(stemming)))

    def _rules(self, stemming: str) -> Stemming:
        if (rules := self._stemmings.get(stemming)) is None:
            rules = self._stemmings[stemming] = load_stemming(stemming)
        return rules


def name_forms(name: str) -> list[str]:
    """Returns a file's name with and without its ending: `Report.pdf` is an identifier, not the word `report`."""
    return [name, PurePath(name).stem]


def folded(word: str) -> str:
    """Returns the word in lower case without accents, as terms are written."""
    return _without_accents(_normalised(word).lower())


def _terms_of_unit(unit: str, rules: Stemming) -> Iterator[str]:
    """Yields the terms of a word or an identifier; an empty one for a stop word."""
    if _IS_CJK.match(unit):
        yield from _bigrams(unit)
        return
    if rules.elisions and (elided := rules.elisions.match(unit)):
        unit = unit[elided.end() :]
    unit = _POSSESSIVE.sub("", unit).replace("'", "").replace("’", "").strip("_")
    folded = _without_accents(unit)
    if not rules.keeps_accents or _HUMP.search(folded):
        unit = folded
    parts = _parts(unit)
    if len(parts) > 1 and _is_identifier(unit):
        # AuthService is indexed as authservice, which is stemmed like any word
        yield _without_accents(unit.lower())[:LONGEST_TERM] if _JOINTS.search(unit) else _stemmed(unit, rules)
        if not any(any(map(str.isalpha, part)) and len(part) > 1 for part in parts):
            return  # a decimal, a version, an abbreviation: its digits or letters alone mean nothing
        if len(components := [part for part in _JOINTS.split(unit) if part]) > 1:
            # AuthService.signToken also gives each of the two
            yield from (_stemmed(component, rules) for component in components if len(_parts(component)) > 1)
    for part in parts:
        if part.isdecimal():
            yield part[:LONGEST_TERM].lstrip("0") or "0"
        else:
            yield "" if part.lower() in rules.stop_words else _stemmed(part, rules)


def _stemmed(word: str, rules: Stemming) -> str:
    word = word.lower()
    if not rules.keeps_accents:
        return rules.stem(_without_accents(word)[:LONGEST_TERM])
    return _without_accents(rules.stem(word[:LONGEST_TERM]))[:LONGEST_TERM]


def _normalised(text: str) -> str:
    """Composes accents with their letters; those that cannot be composed would split the word, and are removed."""
    return text if text.isascii() else _ACCENTS.sub("", unicodedata.normalize("NFKC", text))


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", word)))


def _bigrams(run: str) -> Iterable[str]:
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


def _parts(unit: str) -> list[str]:
    parts: list[str] = []
    for part in filter(None, _JOINTS.split(unit)):
        humps = _CAMEL.findall(part) if _HUMP.search(part) else [part]
        # mRNA, iPhone: a hump of one letter is not a word
        parts += humps if all(len(hump) > 1 for hump in humps) else [part]
    return parts


def _is_identifier(unit: str) -> bool:
    """Returns whether it is an identifier: hyphenated words are not, except with a digit, like CVE-2021-44228."""
    return "." in unit or "_" in unit or "-" not in unit or any(map(str.isdigit, unit))
