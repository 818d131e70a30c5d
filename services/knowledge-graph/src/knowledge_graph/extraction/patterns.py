"""Names that their shape gives away: identifiers, services, packages, file names, capitalised words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge_graph.extraction.names import STOP_WORDS, is_name
from knowledge_graph.extraction.records import Span

KINDS = (
    "Service|Router|DB|Database|Gateway|Worker|Server|Client|Queue|Store|Repository|Controller|Handler|Broker|"
    "Scheduler|Registry|Proxy|API|Api|Pipeline|Engine"
)
EXTENSIONS = (
    "md|txt|rst|html?|pdf|docx?|pptx?|xlsx?|csv|json|ya?ml|toml|ini|py|js|ts|tsx|jsx|go|rs|java|kt|c|h|cpp|cs|rb|php|"
    "sh|sql|adoc|tex|epub|xml|ipynb"
)
ADDRESS = re.compile(r"\b(?:https?|ftp|file)://\S+|\bwww\.\S+|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]+){1,8}")
FILE = re.compile(rf"(?<![\w/.-])[\w-]{{1,80}}(?:[./][\w-]{{1,80}}){{0,8}}\.(?:{EXTENSIONS})\b(?!\.\w)", re.IGNORECASE)
SPOKEN_SERVICE = re.compile(rf"\b[A-Z][\w-]*(?: [A-Z][\w-]*){{0,2}} (?:{KINDS})s?\b")
CAMEL = re.compile(
    r"\b(?!Mc[A-Z]|Mac[A-Z]|De[A-Z]|La[A-Z])[A-Z]+[a-z0-9]+(?:[A-Z][a-z0-9]*)+\b|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b"
)
SNAKE = re.compile(r"(?<![\w.])[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+\b")
DOTTED = re.compile(r"(?<![\w.@/-])[A-Za-z_]\w{1,}(?:\.[A-Za-z_]\w{1,})+\b(?!\()")
QUOTED_CODE = re.compile(r"`([A-Za-z][\w.-]{2,59})(?:\(\))?`")
ACRONYM = re.compile(r"\b[A-Z]{3,6}\b")
CAPITALISED = re.compile(r"\b[^\W\d_a-z][\w’'-]+(?:(?: (?:of|de|la|von|van|der))? [^\W\d_a-z][\w’'-]+)*")
OPENS_SENTENCE = re.compile(r"(?:^|[.!?:;|>*#•\"“(\[\n-]\s*|\d[.)]\s*)$")
COMMON_ACRONYMS = frozenset(
    [
        "API",
        "URL",
        "URI",
        "HTTP",
        "HTTPS",
        "JSON",
        "XML",
        "HTML",
        "CSS",
        "YAML",
        "CSV",
        "PDF",
        "SQL",
        "REST",
        "TODO",
        "FIXME",
        "NOTE",
        "AND",
        "NOT",
        "THE",
        "FOR",
        "ASCII",
        "UTF",
        "FAQ",
        "USA",
        "CPU",
        "RAM",
        "GPU",
        "UUID",
        "TCP",
        "UDP",
        "SSH",
        "TLS",
        "SSL",
        "DNS",
        "PEP",
        "RFC",
        "BDFL",
        "ETC",
    ]
)
SERVICE = re.compile(rf"(?:{KINDS})s?$")


def identifiers(text: str) -> Iterator[Span]:
    """SERVICE, IDENTIFIER and DOCUMENT (a file's name): more certain than what a language model thinks of the word."""
    hidden = _without_addresses(text)
    for match in FILE.finditer(hidden):
        yield _span(match, "DOCUMENT")
    for match in SPOKEN_SERVICE.finditer(hidden):
        start = match.start() + _stop_words_in_front(match.group())
        if " " in hidden[start : match.end()]:
            yield Span(start, match.end(), text[start : match.end()], "SERVICE")
    for pattern in (CAMEL, SNAKE, DOTTED):
        for match in pattern.finditer(hidden):
            yield _span(match, "SERVICE" if SERVICE.search(match.group()) else "IDENTIFIER")
    for match in QUOTED_CODE.finditer(hidden):
        yield Span(match.start(1), match.end(1), match.group(1), "IDENTIFIER")


def capitalised(text: str) -> Iterator[Span]:
    """ENTITY: capitalised words and acronyms. A single word that may only open a sentence does not count."""
    hidden = _without_addresses(text)
    for match in CAPITALISED.finditer(hidden):
        start = match.start() + _stop_words_in_front(match.group())
        surface = re.sub(r"['’]s$", "", hidden[start : match.end()])
        opens = OPENS_SENTENCE.search(hidden[max(0, start - 4) : start]) is not None
        if (" " in surface or not opens) and not surface.isupper() and is_name(surface) and len(surface) > 2:
            yield Span(start, start + len(surface), surface, "ENTITY")
    for match in ACRONYM.finditer(hidden):
        if match.group() not in COMMON_ACRONYMS:
            yield _span(match, "ENTITY")


def without_overlaps(*by_priority: list[Span]) -> list[Span]:
    """Of spans that overlap the one of the earlier list stays, in one list the longest; sorted by place."""
    kept: list[Span] = []
    for spans in by_priority:
        for span in sorted(spans, key=lambda one: (one.start - one.end, one.start)):
            if is_name(span.surface) and all(span.end <= other.start or other.end <= span.start for other in kept):
                kept.append(span)
    return sorted(kept, key=lambda one: one.start)


def _without_addresses(text: str) -> str:
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
