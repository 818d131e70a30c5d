"""Splits text into sentences, the same way in all services, so that one finds what another quotes. Does no IO."""

from __future__ import annotations

import re
from collections.abc import Iterator

Span = tuple[int, int]

LINES = re.compile(r"\n+")
# Ends of blocks of wrapped prose: an empty line, or a line break before a list item, heading, quotation or table row.
BLOCKS = re.compile(r"\n[^\S\n]*+\n\s*+|\n(?=[ \t]*(?:[-*•+|>#]|\d+[.)])\s)")
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]*_]*+(?=\s)|[。！？]++[」』）”]*+")
_NEXT = re.compile(r"\s+[\"'“‘«(\[*_`]*(?:[A-Z0-9]|[^\x00-\x7f])")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'“])(?:[A-Za-z]|(?:[A-Za-z]\.)+[A-Za-z]|a\.k\.a|al|approx|apr|art|aug|bros|bzw|ca|capt|cf|ch|cmdr|co|col"
    r"|corp|cp|dec|dept|dr|ed|eds|eq|eqs|est|etc|feb|ff|fig|figs|fl|ft|gen|gov|hon|inc|jan|jr|jul|jun|lt|ltd|maj|mar|max"
    r"|messrs|min|mr|mrs|ms|mt|no|nos|nov|oct|op|p|par|pp|pres|prof|ref|refs|rep|resp|rev|sec|sen|sep|sept|sgt|sr|st|ste"
    r"|tab|univ|vol|vols|vs|z\.B)\.$",
    re.IGNORECASE,
)
# These may end a sentence: if a capital follows, or after initials a word that often begins sentences.
_MAY_END = re.compile(r"\b(?:etc|[ap]\.m)\.$", re.IGNORECASE)
_INITIALS = re.compile(r"\b[A-Z]\.[A-Z]\.$")
# "Am 4. Mai" goes on.
_ORDINAL = re.compile(r"(?<!\w)\d{1,2}\.$")
_NUMBERED = re.compile(
    r"\s+(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Jahrhundert|Quartal)\b"
)
_STARTER = re.compile(r"\s+(?:A|An|And|As|At|But|He|If|In|It|On|She|That|The|There|These|They|This|We|When|You)\b")


def sentence_ends(text: str, start: int = 0, end: int | None = None) -> Iterator[int]:
    """Yields the offsets at which sentences of prose end by punctuation, between `start` and `end`."""
    end = len(text) if end is None else end
    for match in _END.finditer(text, start, end):
        if match.end() > start and _is_end(text, start, match, end):
            start = match.end()
            yield start


def sentences(text: str, breaks: re.Pattern[str] = LINES) -> list[Span]:
    """Returns the sentences as (start, end) offsets without the space around them. `breaks` end them too."""
    found: list[Span] = []
    block = 0
    for stop, following in [*((match.start(), match.end()) for match in breaks.finditer(text)), (len(text), len(text))]:
        start = block
        for end in [*sentence_ends(text, block, stop), stop]:
            if text[start:end].strip():
                found.append(trimmed(text, start, end))
            start = end
        block = following
    return found


def trimmed(text: str, start: int, end: int) -> Span:
    """Returns the span without leading and trailing white space."""
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), start + len(part.rstrip())


def _is_end(text: str, start: int, match: re.Match[str], end: int) -> bool:
    if match[0][0] in "。！？":
        return True
    if not _NEXT.match(text, match.end(), end):
        return False  # the next word is lower-case: the sentence goes on
    if match[0][0] != "." or match[0].startswith(".."):
        return True
    before = text[max(start, match.start() - 20) : match.start() + 1]
    if _ORDINAL.search(before) and _NUMBERED.match(text, match.end(), end):
        return False
    if _INITIALS.search(before):
        return bool(_STARTER.match(text, match.end(), end))
    return bool(_MAY_END.search(before)) or not _ABBREVIATION.search(before)
