"""Text to index terms: the same for documents and queries, without IO.

Words are normalised (NFKD without Latin accents), lower-cased and stemmed (Snowball English); stop words are dropped.
Identifiers are kept whole and in their parts. Runs of Chinese, Japanese and Korean become bigrams.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import resources

import Stemmer

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
# Vowel signs and points that \w leaves out, though words of these scripts are written with them.
_MARKS = "\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0dff\u0e31-\u0e4e\u0eb1-\u0ecd\u1000-\u109f"
_LETTER = f"(?:(?![{_CJK}])[\\w{_MARKS}])"
_UNIT = re.compile(f"[{_CJK}]+|{_LETTER}+(?:['’.-]{_LETTER}+)*")
_IS_CJK = re.compile(f"[{_CJK}]")
_POSSESSIVE = re.compile(r"['’][sS]$")
_JOINTS = re.compile(r"[._-]+")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^A-Za-z]+")
_HUMP = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
_ACCENTS = re.compile("[\u0300-\u036f]")
LONGEST_TERM = 64  # characters; what is longer is no word, and an index entry has to fit a page

STOP_WORDS = frozenset(resources.files("retrieval.lexical").joinpath("stop_words.txt").read_text("utf-8").split())


@dataclass(frozen=True)
class Analysis:
    """Term frequencies of a text and its length: the sum of them."""

    frequencies: dict[str, int]
    length: int


class Analyzer:
    """Not to be shared between threads at the same time: the stemmer keeps state."""

    def __init__(self) -> None:
        self._stem = Stemmer.Stemmer("english").stemWord

    def terms(self, text: str) -> list[str]:
        """The terms in their order, repeats included."""
        return [term for unit in _UNIT.findall(_normalised(text)) for term in self._of_unit(unit)]

    def analyse(self, *texts: str) -> Analysis:
        """Term frequencies over all of the texts."""
        frequencies = Counter(term for text in texts for term in self.terms(text))
        return Analysis(dict(frequencies), sum(frequencies.values()))

    def _of_unit(self, unit: str) -> Iterator[str]:
        if _IS_CJK.match(unit):
            yield from _bigrams(unit)
            return
        unit = _POSSESSIVE.sub("", unit).replace("'", "").replace("’", "").strip("_")
        parts = _parts(unit)
        if len(parts) > 1 and _is_identifier(unit):
            whole = unit.lower()[:LONGEST_TERM]
            # AuthService is looked for as authservice, which is stemmed like any word
            yield whole if _JOINTS.search(whole) else self._stem(whole)
            if not any(any(map(str.isalpha, part)) and len(part) > 1 for part in parts):
                return  # a decimal, a version, an abbreviation: its digits or letters alone say nothing
        yield from self._words(parts)

    def _words(self, parts: Iterable[str]) -> Iterator[str]:
        for part in parts:
            word = part.lower()[:LONGEST_TERM]
            if not word or word in STOP_WORDS:
                continue
            if word.isdecimal():
                yield word.lstrip("0") or "0"
            else:
                yield self._stem(word)


def _normalised(text: str) -> str:
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text)))


def _bigrams(run: str) -> Iterable[str]:
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


def _parts(unit: str) -> list[str]:
    parts: list[str] = []
    for part in filter(None, _JOINTS.split(unit)):
        humps = _CAMEL.findall(part) if _HUMP.search(part) else [part]
        # mRNA, iPhone: a hump of one letter is no word
        parts += humps if all(len(hump) > 1 for hump in humps) else [part]
    return parts


def _is_identifier(unit: str) -> bool:
    """Hyphenated words are just words; with a digit they are names such as CVE-2021-44228."""
    return "." in unit or "_" in unit or "-" not in unit or any(map(str.isdigit, unit))
