"""Finds runs of capitalised words: "Maria Keller", "Gulf of Mexico", "World War II", "J. Paul Getty Museum"."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from knowledge_graph.extraction.identifiers import without_addresses
from knowledge_graph.extraction.names import (
    ACRONYMS,
    EPITHETS,
    HEADS,
    PARTICLES,
    PARTS,
    STOP_WORDS,
    is_generic,
    is_name,
)
from knowledge_graph.extraction.records import Span

TOKEN = re.compile(r"[^\W_]++(?:[-’'.&][^\W_]++)*+")
OPENS_SENTENCE = re.compile(r"(?:^|[.!?:;|>*#•\"“(\[\n-]\s*|\d[.)]\s*)$")
QUOTED = re.compile(r"[\"“]([^\W_][^\"“”\n]{2,80}?)[,.]?[\"”]|(?<![*\w])\*([^\W_][^*\n]{2,80}?)\*(?![*\w])")
LONGEST_NUMBER = 4
GERMAN_OPENINGS = (
    *("ab", "bis", "seit", "bei", "im", "am", "vor", "nach", "wenn", "falls", "diese", "dieser", "dieses"),
    *("ihr", "ihre", "sein", "seine", "unser", "unsere", "jede", "jeder", "jedes", "beide", "dort", "sonst", "sobald"),
    *("viele", "alle", "früher", "heute", "für", "aus", "auf", "durch", "ohne", "gegen"),
)
GERMAN = frozenset(
    [
        "teil",
        "bestandteil",
        "der",
        "die",
        "das",
        "und",
        "ist",
        "nicht",
        "den",
        "dem",
        "ein",
        "eine",
        "von",
        "mit",
        *GERMAN_OPENINGS,
        *PARTS,
    ]
)
"""Words that open a German sentence, or precede a name without belonging to it: "die App Petrel"."""
GERMAN_KINDS = ("system", "dienst", "anwendung", "datenbank", "speicher", "projekt", "komponente", "portal", "server")
"""Endings of compounds that describe the name after them: "das Zugangssystem Door Control"."""
SHORTEST_WORD = 3
POSSESSIVE = re.compile(r"['’]s?$")


@dataclass(frozen=True)
class Token:
    """A word of the text; `text` is the word without a possessive ending."""

    start: int
    end: int
    text: str

    @property
    def capital(self) -> bool:
        return self.text[0].isupper()


def tokens(text: str) -> list[Token]:
    """Returns the words of the text: letters and digits, including the characters that join them inside a word."""
    return [
        Token(match.start(), match.start() + len(word), word)
        for match in TOKEN.finditer(text)
        if (word := POSSESSIVE.sub("", match.group()))
    ]


def capitalised(text: str, *, nouns_have_capitals: bool = False) -> Iterator[Span]:
    """Yields ENTITY, but no single word that may only open a sentence, and no office or kind of thing alone.

    With `nouns_have_capitals` (German) a single word never counts.
    """
    hidden = without_addresses(text)
    for run in runs(hidden, STOP_WORDS | GERMAN if nouns_have_capitals else STOP_WORDS):
        if nouns_have_capitals and len(run) > 1 and run[0].text.endswith(GERMAN_KINDS):
            run = run[1:]
        first, last = run[0], run[-1]
        surface = hidden[first.start : last.end]
        if len(run) == 1:
            opens = _opens_sentence(hidden, first.start)
            acronym = surface.isupper() and surface not in ACRONYMS and len(surface) <= 2 * SHORTEST_WORD
            if not acronym and (opens or nouns_have_capitals or surface.isupper()):
                continue
            if len(surface) < SHORTEST_WORD:
                continue
        if is_name(surface) and not is_generic([one.text.casefold() for one in run]):
            yield Span(first.start, last.end, surface, "ENTITY")
    yield from quoted_titles(hidden)


def runs(text: str, skipped: Collection[str]) -> Iterator[list[Token]]:
    """Yields the longest runs, without the `skipped` small words in front of them."""
    found = tokens(text)
    place = 0
    while place < len(found):
        if not found[place].capital or found[place].text.casefold() in skipped:
            place += 1
            continue
        end = _end(text, found, place)
        yield found[place:end]
        place = end


def quoted_titles(text: str) -> Iterator[Span]:
    """Yields titles of works in quotation marks or emphasis: two words or more, most of them capitalised."""
    for match in QUOTED.finditer(text):
        group = 1 if match.group(1) else 2
        words = match.group(group).split()
        large = sum(word[0].isupper() for word in words)
        small = sum(word[0].islower() and word in STOP_WORDS for word in words)
        if len(words) > 1 and words[0][0].isupper() and large + small == len(words) and large >= small:
            yield Span(match.start(group), match.end(group), match.group(group), "ENTITY")


def _end(text: str, found: Sequence[Token], first: int) -> int:
    """Returns the index after the last token of the run that begins at `first`."""
    end = first + 1
    while end < len(found):
        step = _continues(text, found, first, end)
        if step == 0:
            break
        end += step
    return end


def _continues(text: str, found: Sequence[Token], first: int, end: int) -> int:
    """Returns how many of the next tokens belong to the run; 0 ends it."""
    if not _joined(text, found, end):
        return 0
    token = found[end]
    if token.capital:
        return 1
    if token.text.isdigit():
        is_year = len(token.text) == LONGEST_NUMBER
        return int(len(token.text) <= LONGEST_NUMBER and (not is_year or end - first > 1))
    head = any(one.text.casefold() in HEADS for one in found[first:end]) or _is_first_name(text, found, first, end)
    links = 0
    while end + links < len(found) and links < 2 and _joined(text, found, end + links):
        word = found[end + links].text
        if word in PARTICLES or (head and word in {"of", "for"}) or (links and word == "the"):
            links += 1
        else:
            break
    if token.text == "the" and end + 1 < len(found) and found[end + 1].text.casefold() in EPITHETS:
        links = 1  # "Boso the Elder"
    ahead = end + links
    if " of the Year" in text[found[end - 1].end : found[end - 1].end + 12]:
        links, ahead = 2, end + 2
    return links + 1 if links and ahead < len(found) and _joined(text, found, ahead) and found[ahead].capital else 0


def _is_first_name(text: str, found: Sequence[Token], first: int, end: int) -> bool:
    """Returns whether the run so far is a single word that is no kind of thing and does not open a sentence, such as a
    first name: "Ermengarde of Tours"."""
    only = found[first]
    return end - first == 1 and not is_generic([only.text.casefold()]) and not _opens_sentence(text, only.start)


def _opens_sentence(text: str, place: int) -> bool:
    return OPENS_SENTENCE.search(text[max(0, place - 4) : place]) is not None


def _joined(text: str, found: Sequence[Token], place: int) -> bool:
    """Returns whether only a space, or the punctuation of an initial, separates the token from the previous one."""
    before = found[place - 1]
    gap = text[before.end : found[place].start]
    initial = len(before.text) == 1 or before.text in {"St", "Dr", "Mr", "Mrs", "Mt", "Ft"}
    return gap in {" ", "\n", " & ", "- "} or (initial and before.capital and gap in {". ", ".\n"})
