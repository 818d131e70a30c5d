"""Finds names by their shape: identifiers, services, packages, paths and file names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge_graph.extraction.names import ACRONYMS, STOP_WORDS, is_name
from knowledge_graph.extraction.records import Span
from knowledge_graph.extraction.word_lists import words

KINDS = (
    "Service|Router|DB|Database|Gateway|Worker|Server|Client|Queue|Store|Repository|Controller|Handler|Broker|"
    "Scheduler|Registry|Proxy|API|Api|Pipeline|Engine|Cache"
)
EXTENSIONS = (
    "md|txt|rst|html?|pdf|docx?|pptx?|xlsx?|csv|json|ya?ml|toml|ini|py|js|ts|tsx|jsx|go|rs|java|kt|c|h|cpp|cs|rb|php|"
    "sh|sql|adoc|tex|epub|xml|ipynb"
)
ADDRESS = re.compile(r"\b(?:https?|ftp|file)://\S+|\bwww\.\S+|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]+){1,8}")
FILE = re.compile(rf"(?<![\w/.-])[\w-]{{1,80}}(?:[./][\w-]{{1,80}}){{0,8}}\.({EXTENSIONS})\b(?!\.\w)", re.IGNORECASE)
# One or two slashes alone are "and/or" or "red/green/blue".
PATH = re.compile(
    r"(?<![\w/.:~-])(?:(?:~|\.{1,2})?(?:/[\w.-]{1,80}){2,10}|[\w.-]{1,80}(?:/[\w.-]{1,80}){3,10})/?(?![\w/])"
)
SPOKEN_SERVICE = re.compile(rf"\b[A-Z][\w-]{{0,80}}+(?: [A-Z][\w-]{{0,80}}+){{0,2}} (?:{KINDS})s?\b")
CAMEL = re.compile(
    r"\b(?!Mc[A-Z]|Mac[A-Z]|De[A-Z]|La[A-Z])[A-Z]+[a-z0-9]++(?:[A-Z][a-z0-9]*+)++\b|\b[a-z]++(?:[A-Z][a-z0-9]++)++\b"
)
SNAKE = re.compile(r"(?<![\w.])[A-Za-z][A-Za-z0-9]*+(?:_[A-Za-z0-9]++)++\b")
DOTTED = re.compile(r"(?<![\w.@/-])[A-Za-z_]\w++(?:\.[A-Za-z_]\w++)+\b(?!\()")
# In backticks: a lower-case name, a package (@scope/name, std::vec), a path.
QUOTED_CODE = re.compile(r"`([@~./]{0,3}[A-Za-z][\w.:/@-]{1,78}\w)(?:\(\))?`")
IS_SERVICE = re.compile(rf"(?:{KINDS})s?$")
IS_STORE = re.compile(r"(?:DB|Database|Store|Cache)$")
IS_PROJECT = re.compile(r"(?:Project|Projekt)[ -]?[A-Z]")
DOCUMENT_IDS = "|".join(sorted(words("document_ids")))
DOCUMENT_ID = re.compile(rf"(?<![\w-])(?:{DOCUMENT_IDS})-\d{{1,6}}(?![\w-])")


def identifiers(text: str) -> Iterator[Span]:
    """Yields SERVICE, STORE, IDENTIFIER, DOCUMENT (a file name) and DOCUMENT_ID. Shape is more reliable than a language
    model's guess.
    """
    hidden = without_addresses(text)
    for match in DOCUMENT_ID.finditer(hidden):
        yield _span(match, "DOCUMENT_ID")
    yield from _files(hidden)
    for match in PATH.finditer(hidden):
        surface = match.group().rstrip("./")
        yield Span(match.start(), match.start() + len(surface), surface, "IDENTIFIER")
    for match in SPOKEN_SERVICE.finditer(hidden):
        start = match.start() + _stop_words_in_front(match.group())
        if " " in hidden[start : match.end()]:
            yield Span(start, match.end(), text[start : match.end()], kind_of(match.group()))
    for pattern in (CAMEL, SNAKE, DOTTED):
        for match in pattern.finditer(hidden):
            if match.group().upper() not in ACRONYMS:
                yield _span(match, kind_of(match.group()))
    for match in QUOTED_CODE.finditer(hidden):
        yield Span(match.start(1), match.end(1), match.group(1), kind_of(match.group(1)))


def _files(hidden: str) -> Iterator[Span]:
    for match in FILE.finditer(hidden):
        if match.start(1) - match.start() > 2 or match.group(1).islower():  # "D.C" is not a C file
            yield _span(match, "DOCUMENT")


def kind_of(name: str) -> str:
    """Returns SERVICE or STORE by the name's last word, PROJECT by its first, else IDENTIFIER."""
    if IS_PROJECT.match(name) and not IS_SERVICE.search(name):
        return "PROJECT"
    if IS_STORE.search(name):
        return "STORE"
    return "SERVICE" if IS_SERVICE.search(name) else "IDENTIFIER"


def without_overlaps(*by_priority: list[Span]) -> list[Span]:
    """Returns the spans without overlaps, in text order: earlier lists win, within a list the longest span wins."""
    kept: list[Span] = []
    for spans in by_priority:
        for span in sorted(spans, key=lambda one: (one.start - one.end, one.start)):
            if is_name(span.surface) and all(span.end <= other.start or other.end <= span.start for other in kept):
                kept.append(span)
    return sorted(kept, key=lambda one: one.start)


def without_addresses(text: str) -> str:
    """Returns the text with web and mail addresses blanked; every other character keeps its position."""
    return ADDRESS.sub(lambda match: " " * len(match.group()), text)


def _stop_words_in_front(surface: str) -> int:
    skipped = 0
    for word in surface.split(" ")[:-1]:
        if word.casefold() not in STOP_WORDS:
            break
        skipped += len(word) + 1
    return skipped


def _span(match: re.Match[str], entity_type: str) -> Span:
    return Span(match.start(), match.end(), match.group(), entity_type)
