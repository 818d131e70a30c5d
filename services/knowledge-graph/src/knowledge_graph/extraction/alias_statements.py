"""Finds statements that two names are one: "Single Sign-On (SSO)", "X, also known as Y"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from knowledge_graph.extraction.names import EPITHETS, SYNONYMS, is_generic, is_name, name_key
from knowledge_graph.extraction.records import Span
from knowledge_graph.extraction.word_lists import equations

SHORT = re.compile(r"\(\s*(?:or\s+)?[\"“]?([A-Z][A-Za-z0-9&./-]{1,9})[\"”]?\s*[);,]")
LONG = re.compile(r"\b([A-Z][A-Za-z0-9&.-]{1,9})\s*\(\s*([^\W\d_][^()\n]{4,80}?)\s*\)")
KNOWN_AS = re.compile(
    r"(?:\s*+\([^()\n]{0,80}+\))?\s*+(?:[,(]\s*+)?(?:(?:also|better|formerly|commonly|previously|originally|otherwise|widely|sometimes|popularly|simply)\s++)*+"
    r"(?:known\s++(?:[a-z]++\s++){0,3}?as|called|named|nicknamed|referred\s+to\s+as|abbreviated\s+(?:as|to)?|a\.?k\.?a\.?|"
    r"or\s+simply|stylized\s+as|stylised\s+as)\s+(?:the\s+)?[\"“‘']?",
    re.IGNORECASE,
)
BORN = re.compile(r"\s*\(\s*(?:born|né|née)\s+(?=[^\W\d_a-z][\w'’-]+\s+[^\W\d_a-z])")
OR = re.compile(r"\s*\(\s*or\s+(?:the\s+)?[\"“‘']?")
GLOSS = re.compile(r"\s*\(\s*(?:in\s+)?[A-Z][a-z]+\s*(?:for\s*)?:\s*[\"“‘']?")
OTHER_NAME = re.compile(
    r"([^\W\d_][\w.&'’-]*(?:\s+[\w.&'’-]+){0,7}?)(?=[\"”’']?\s*(?:[,;.:)(]|$|\n|\b(?:is|was|are|were|and|or|in|on|at|from|to|as|by|who|which|\d+)\b))"
)
OPENINGS = (KNOWN_AS, BORN, OR, GLOSS)
LONGEST = 90
WORD = re.compile(r"\S+")
PROJECTS = frozenset({"project", "projekt"})
MOST_BARE = 2
"""Names of this many words and words of this many letters are not shortened: "Auth Service" is not called Auth."""
SPELLINGS = {spelling: word for spellings, word in equations("spellings") for spelling in spellings}


@dataclass(frozen=True)
class AliasStatement:
    """Two names that are one: `alias` and `target` are places in the text, `method` is `abbreviation` or `stated`."""

    alias: Span
    target: Span
    method: str


def statements(text: str, spans: Sequence[Span]) -> Iterator[AliasStatement]:
    """Yields the alias statements of the text; `spans` are the known names in it."""
    yield from _abbreviations(text)
    for span in spans:
        other = _other_name(text, span)
        if other is not None and name_key(other.surface) != name_key(span.surface):
            yield AliasStatement(other, span, "stated")
        yield from _of_kind(span)


def _of_kind(span: Span) -> Iterator[AliasStatement]:
    """Yields aliases that follow from the kind of thing: "Project Kestrel" is also Kestrel, in English and German; the
    "Berth Allocation Service" is also Berth Allocation."""
    words = list(WORD.finditer(span.surface))
    if len(words) > 1 and words[0].group().casefold() in PROJECTS and _is_whole(words[1:]):
        start = words[1].start()
        bare = Span(span.start + start, span.end, span.surface[start:], span.entity_type)
        yield AliasStatement(span, bare, "stated")
    elif len(words) > MOST_BARE and words[-1].group() == "Service" and _is_whole(words):
        end = words[-2].end()
        bare = Span(span.start, span.start + end, span.surface[:end], span.entity_type)
        yield AliasStatement(bare, span, "stated")


def _is_whole(words: Sequence[re.Match[str]]) -> bool:
    """Returns whether each word has a capital and several letters; "Project X" and "Project 7" have no shorter name."""
    return all(word.group()[0].isupper() and len(word.group()) > MOST_BARE for word in words)


def _other_name(text: str, span: Span) -> Span | None:
    """Returns the other name that the text states directly after the name."""
    for pattern in OPENINGS:
        opening = pattern.match(text, span.end, span.end + LONGEST)
        if opening is None or not _is_about_the_name(opening.group()):
            continue
        name = OTHER_NAME.match(text, opening.end(), opening.end() + LONGEST)
        if name is not None and name.group(1)[0].isupper() and _names_it(name.group(1)):
            return Span(name.start(1), name.end(1), name.group(1).rstrip("."), span.entity_type)
    return None


def synonym(surface: str) -> str | None:
    """Returns the name for which the surface is a spelling in every text ("USA"); None if it can be another word."""
    return SYNONYMS.get(surface) if surface != "US" else None


def american(surface: str) -> str | None:
    """Returns a name of several words in American spelling ("Center for Disease Control"); None if it is already
    spelled so."""
    spelled = [SPELLINGS.get(word.casefold(), word) for word in surface.split()]
    changed = [one.title() if word[0].isupper() else one for word, one in zip(surface.split(), spelled, strict=True)]
    return " ".join(changed) if len(spelled) > 1 and spelled != surface.split() else None


def _names_it(surface: str) -> bool:
    parts = [word.casefold() for word in surface.split()]
    return is_name(surface) and not is_generic(parts) and not (len(parts) == 1 and parts[0] in EPITHETS)


def _is_about_the_name(opening: str) -> bool:
    # "a man named X" follows a name only by chance; commas and brackets show that it is the same one.
    return opening.lstrip()[:1] in {",", "("} or ")," in opening or "known" in opening


def _abbreviations(text: str) -> Iterator[AliasStatement]:
    for match in SHORT.finditer(text):
        short = match.group(1).rstrip(".,")
        start = _long_form(short, text, match.start())
        if start is not None:
            surface = text[start : match.start()].rstrip()
            yield _abbreviation(Span(match.start(1), match.start(1) + len(short), short, "ENTITY"), start, surface)
    for match in LONG.finditer(text):
        short, long = match.group(1), match.group(2)
        if _letters(short) > 1 and _initials_match(short, long):
            yield _abbreviation(Span(match.start(1), match.end(1), short, "ENTITY"), match.start(2), long)


def _abbreviation(short: Span, start: int, surface: str) -> AliasStatement:
    kind = "ENTITY" if any(word[0].isupper() for word in surface.split()[1:] or [surface]) else "CONCEPT"
    return AliasStatement(short, Span(start, start + len(surface), surface, kind), "abbreviation")


def _letters(short: str) -> int:
    return sum(char.isupper() for char in short)


def _long_form(short: str, text: str, end: int) -> int | None:
    """Finds where the long form before `end` begins.

    Schwartz and Hearst, "A simple algorithm for identifying abbreviation definitions in biomedical text" (2003).
    """
    if _letters(short) < 2:
        return None
    most = min(len(short) + 5, 2 * len(short))
    words = list(re.finditer(r"\S+", text[max(0, end - LONGEST) : end]))[-most:]
    if not words:
        return None
    first = max(0, end - LONGEST) + words[0].start()
    at, letter = end - 1, len(short) - 1
    while letter >= 0:
        wanted = short[letter].lower()
        if not wanted.isalnum():
            letter -= 1
            continue
        while at >= first and (text[at].lower() != wanted or (letter == 0 and at > first and text[at - 1].isalnum())):
            at -= 1
        if at < first:
            return None
        at, letter = at - 1, letter - 1
    start = at + 1
    long = text[start:end].rstrip()
    plausible = "\n\n" not in long and not re.search(r"[.;:()]\s", long) and len(long) > len(short)
    return start if plausible and is_name(long) and short.lower() not in long.lower().split() else None


def _initials_match(short: str, long: str) -> bool:
    initials = "".join(word[0] for word in re.findall(r"[^\W_]+", long) if word[0].isupper()).lower()
    return initials == "".join(char for char in short if char.isalnum()).lower()
