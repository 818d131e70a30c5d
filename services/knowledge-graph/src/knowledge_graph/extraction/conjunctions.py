"""Finds single names that contain "and": "Department of Health and Human Services", "the River and Rowing Museum"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from knowledge_graph.extraction.names import HEADS, name_key
from knowledge_graph.extraction.records import Span
from knowledge_graph.extraction.word_lists import equations

AND = re.compile(r" (?:and|&) ")
OF = re.compile(r"(?:the )?(?P<head>[\w-]+)(?: [\w-]+){0,3} (?:of|for) (?P<rest>.+)", re.IGNORECASE)
THE = re.compile(r"(?<!\w)[Tt]he $")
PLACES = frozenset(name_key(place) for _, place in equations("places"))
ONE_THING = frozenset({"GPE", "LOC", "PERSON", "NORP", "IDENTIFIER", "DOCUMENT", "CONCEPT"})
MOST_WORDS = 4
KIND_AND = re.compile(r"(?<!\w)[Tt]he ([A-Z][a-z]+) (?:and|&) $")
LONGEST_KIND = 40
LAW = frozenset({"act", "bill", "railway", "festival", "awards"})


def joined(text: str, spans: Sequence[Span]) -> list[Span]:
    """Returns the names in text order, such pairs as one; "the University of Oslo and Bergen" stays two."""
    found: list[Span] = []
    for span in spans:
        before = found[-1] if found else None
        if before is not None and AND.fullmatch(text[before.end : span.start]):
            found[-1:] = [_whole(text, before.start, before, span)] if _is_one(text, before, span) else [before, span]
            continue
        # A kind of thing alone was not found as a name: "the River and Rowing Museum".
        kind = KIND_AND.search(text, max(0, span.start - LONGEST_KIND), span.start)
        is_one = kind is not None and _ends_in_head(span) and (before is None or before.end <= kind.start(1))
        found.append(_whole(text, kind.start(1), span) if kind is not None and is_one else span)
    return found


def _whole(text: str, start: int, *spans: Span) -> Span:
    kind = "ORG" if any(span.entity_type == "ORG" for span in spans) else "ENTITY"
    return Span(start, spans[-1].end, text[start : spans[-1].end], kind)


def _ends_in_head(span: Span) -> bool:
    words = span.surface.split()
    return 1 < len(words) <= MOST_WORDS and words[-1].casefold() in HEADS | LAW and span.entity_type not in ONE_THING


def _is_one(text: str, first: Span, second: Span) -> bool:
    words = second.surface.split()
    if second.entity_type in ONE_THING or len(words) > MOST_WORDS or name_key(second.surface) in PLACES:
        return False
    if words[0].casefold() in HEADS and len(words) > 1:
        return False
    of = OF.fullmatch(first.surface)
    if of is not None:
        return of["head"].casefold() in HEADS and name_key(of["rest"]) not in PLACES and second.surface[0].isupper()
    is_plain = first.entity_type == "ENTITY" or (first.entity_type == "ORG" and " " not in first.surface)
    return (
        is_plain
        and _ends_in_head(second)
        and " " not in first.surface
        and THE.search(text[: first.start][-5:]) is not None
    )
