"""Finds what a message is about by its words: names, identifiers, and what follows "about". English, German. No I/O."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib.resources import files

from memory.facts.clauses import own_words
from memory.secrets import BLANK, has_secret

MOST_OF_MESSAGE = 3
LONGEST_TOPIC = 60
ENOUGH_TEXT = 4_000
MOST_WORDS = 3
_SENTENCE = re.compile(r"(?<![.!?;:])[.!?;:]++(?=\s|$)|\n+|…+|[()\[\]{}]")
_WORD = re.compile(r"[^\W_](?:[\w'’]|[-./&](?=\w))*")
_ABOUT = re.compile(
    r"\b(?:about|regarding|concerning|on the (?:topic|subject) of|über|bezüglich|zum thema) "
    r"(?:(?:the|a|an|our|my|your|this|these|den|die|das|dem|der|unsere?[nrm]?|meine?[nrm]?|diese[nrms]?) )?",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"[^\W\d_].*(?:\d|_|[^\W\d_]\.[^\W\d_])|.*[a-zäöü][A-ZÄÖÜ]|[A-ZÄÖÜ]{2,}")


def topics_in(text: str) -> list[str]:
    """Returns at most MOST_OF_MESSAGE topics in the order of the text, each once; quotations name none."""
    found = dict[str, str]()
    for sentence in _SENTENCE.split(own_words(text[:ENOUGH_TEXT]).replace(BLANK, "…")):
        for topic in (*_after_about(sentence), *_names(sentence)):
            topic = topic.removesuffix("'s")
            if not any(topic.casefold() in known for known in found) and is_topic(topic):
                found[topic.casefold()] = topic
    return list(found.values())[:MOST_OF_MESSAGE]


def is_topic(text: str) -> bool:
    """Returns whether the text is short enough, and neither a number nor a secret."""
    letters, digits = sum(map(str.isalpha, text)), sum(map(str.isdigit, text))
    return 1 < len(text) <= LONGEST_TOPIC and letters > digits and not has_secret(text)


def _after_about(sentence: str) -> Iterator[str]:
    for about in _ABOUT.finditer(sentence):
        rest = sentence[about.end() :]
        start, topic = next(_runs(rest, lambda _: True), (1, ""))
        if start == 0:
            yield topic


def _names(sentence: str) -> Iterator[str]:
    """Yields names and identifiers. The first word of a sentence is capitalised anyway, and no name by itself."""
    for start, name in _runs(sentence.lstrip(), lambda word: word[0].isupper() or is_identifier(word)):
        if start or " " in name or is_identifier(name):
            yield name


def is_identifier(word: str) -> bool:
    return _IDENTIFIER.match(word) is not None


def _runs(sentence: str, belongs: Callable[[str], bool]) -> Iterator[tuple[int, str]]:
    """Yields runs of at most MOST_WORDS words that belong and say something, with only spaces between, and starts."""
    start, end, count = 0, -1, 0
    for word in _WORD.finditer(sentence):
        kept = word[0].lower() not in _EMPTY and belongs(word[0])
        if count and not (kept and count < MOST_WORDS and sentence[end : word.start()] == " "):
            yield start, sentence[start:end]
            count = 0
        if kept:
            start, end, count = start if count else word.start(), word.end(), count + 1
    if count:
        yield start, sentence[start:end]


def _read() -> frozenset[str]:
    """Returns the words that name no topic, in lower case."""
    lines = files("memory.topics").joinpath("empty_words.txt").read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


_EMPTY = _read()
