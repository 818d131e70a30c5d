"""Analyses a sentence: content words, numbers, names, negations, and the language, which selects the rules."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files

from orchestrator.citations.numbers import Number, numbers
from orchestrator.citations.terms import STOP_WORDS, stem

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*+|[^\W_]+|[.,;:!?]")
_NAME = re.compile(r"[^\W_][\w+/.-]*")
_CONTRACTED = re.compile(r"n['’]t\b")
_NOT_PLAIN = re.compile(r"[\W_]+")


def _lists() -> dict[str, list[str]]:
    """Returns the lists in words.txt by name."""
    text = files("orchestrator.citations").joinpath("words.txt").read_text("utf-8")
    parts = (part.partition("\n") for part in text.removeprefix("# ").split("\n# "))
    return {name: words.split() for name, _, words in parts}


WORDS = _lists()
_ENGLISH = frozenset(WORDS["english"])
_GERMAN = frozenset(WORDS["german"])
_OTHER = frozenset(WORDS["other"])
# Words that only introduce or connect statements; they need not occur in the source.
_FRAME = frozenset(map(stem, WORDS["frame"]))
DENIES = frozenset(WORDS["denies"])
# Words that deny too, but not always.
SOFT = frozenset(map(stem, WORDS["denies softly"]))
_NO_DENIAL = frozenset({"only", "more", "less", "fewer", "later", "just", "nur", "mehr", "weniger", "matter", "doubt"})
_CLAUSE_ENDS = frozenset(WORDS["clause ends"])
_NEGATING = ("un", "in", "im", "non", "dis", "ir")
WINDOW = 3


@dataclass(frozen=True)
class Word:
    """A content word; `at` is its index among the tokens."""

    text: str
    stem: str
    at: int


class Analysis:
    """The analysis of a text, computed lazily."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[str] = _TOKEN.findall(_CONTRACTED.sub(" nt", text))
        self.lower = [token.lower() for token in self.tokens]

    @cached_property
    def words(self) -> list[Word]:
        """Returns the content words in order."""
        return [
            Word(self.tokens[at], stem(lower), at)
            for at, lower in enumerate(self.lower)
            if len(lower) > 1 and lower[0].isalpha() and has_content(lower)
        ]

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(word.stem for word in self.words)

    @cached_property
    def all_stems(self) -> frozenset[str]:
        """Returns the stems of all words, including function words."""
        return frozenset(self.counted)

    @cached_property
    def beginnings(self) -> frozenset[str]:
        return frozenset(beginning(one) for one in self.stems)

    @cached_property
    def numbers(self) -> list[Number]:
        return numbers(self.text)

    @cached_property
    def plain(self) -> str:
        """Returns only the letters and digits, to look up names."""
        return _NOT_PLAIN.sub("", self.text.lower())

    @cached_property
    def initials(self) -> str:
        return "".join(match[0][0] for match in _NAME.finditer(self.text)).lower()

    @cached_property
    def language(self) -> str:
        """Returns `en`, `de`, `other`, or nothing if the text is too short to tell."""
        counted = {
            name: sum(token in words for token in self.lower)
            for name, words in (("en", _ENGLISH), ("de", _GERMAN), ("other", _OTHER))
        }
        best = max(counted, key=lambda name: counted[name])
        return best if counted[best] and list(counted.values()).count(counted[best]) == 1 else ""

    @cached_property
    def denials(self) -> list[frozenset[str]]:
        """Returns the stems that each negation applies to: the next ones of its clause; in German also earlier ones."""
        return list(self._denials())

    @cached_property
    def soft_denials(self) -> frozenset[str]:
        return SOFT & self.all_stems

    @cached_property
    def counted(self) -> Counter[str]:
        return Counter(map(stem, self.lower))

    def names(self, capitals: bool) -> Iterator[str]:
        """Yields identifiers and acronyms; with `capitals` also capitalised words that do not begin a sentence."""
        end = 0
        for match in _NAME.finditer(self.text):
            name, before = match[0].rstrip("./-+_"), self.text[end : match.start()]
            begins = end == 0 or not before.isspace() or self.text[end - 1] in ".!?:"
            end = match.end()
            inner = name[1:] != name[1:].lower() and not name.istitle()
            mixed = any(map(str.isdigit, name)) and any(map(str.isalpha, name)) and not name[0].isdigit()
            if len(name) > 1 and (inner or mixed or (capitals and name[0].isupper() and not begins)):
                yield name

    def _denials(self) -> Iterator[frozenset[str]]:
        words = {word.at: word.stem for word in self.words}
        for at, token in enumerate(self.lower):
            following = self.lower[at + 1] if at + 1 < len(self.lower) else ""
            if token in DENIES and following not in _NO_DENIAL:
                denied = _near(self.lower[at + 1 : at + 10], range(at + 1, at + 10), words)
                if self.language == "de":
                    start = max(0, at - 9)
                    denied += _near(self.lower[start:at][::-1], range(at - 1, start - 1, -1), words)
                yield frozenset(denied)


def _near(tokens: Sequence[str], places: range, words: dict[int, str]) -> list[str]:
    found: list[str] = []
    for token, place in zip(tokens, places, strict=False):
        if token in _CLAUSE_ENDS or len(found) == WINDOW:
            break
        if place in words:
            found.append(words[place])
    return found


def has_content(word: str) -> bool:
    """Returns whether the lower-case word is a content word."""
    return word not in STOP_WORDS and word not in DENIES and stem(word) not in _FRAME


def beginning(word: str) -> str:
    """Returns the beginning that words of one family share, such as activate and activation."""
    return word[: max(4, min(len(word) - 3, 8))]


def contrary(word: str) -> Iterator[str]:
    """Yields the word without a negating prefix: unavailable is the negation of available."""
    for prefix in _NEGATING:
        if word.startswith(prefix) and len(word) >= len(prefix) + 4:
            yield word[len(prefix) :]


def _table(name: str) -> list[list[str]]:
    return [
        [stem(word) for word in line.split()]
        for line in files("orchestrator.citations").joinpath(name).read_text("utf-8").splitlines()
    ]


def _opposites() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for first, *others in _table("opposites.txt"):
        for other in others:
            if first != other:
                found.setdefault(first, set()).add(other)
                found.setdefault(other, set()).add(first)
    return {word: frozenset(others) for word, others in found.items()}


def _synonyms() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for group in _table("synonyms.txt"):
        for word in group:
            found.setdefault(word, set()).update(group)
    return {word: frozenset(others) for word, others in found.items()}


def _groups() -> dict[str, str]:
    """Maps each word to the representative of its synonyms."""
    found: dict[str, str] = {}
    for group in _table("synonyms.txt"):
        known = {found[word] for word in group if word in found}
        found.update({word: group[0] for word, one in found.items() if one in known})
        found.update(dict.fromkeys(group, group[0]))
    return found


OPPOSITES = _opposites()
SYNONYMS = _synonyms()
SYNONYM_GROUPS = _groups()
