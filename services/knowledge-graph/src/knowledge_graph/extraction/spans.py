"""Merges the names that all methods found in the text of one chunk, without overlaps."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from knowledge_graph.extraction import code
from knowledge_graph.extraction.capitalised import capitalised, quoted_titles
from knowledge_graph.extraction.conjunctions import joined
from knowledge_graph.extraction.english_reader import EnglishReading
from knowledge_graph.extraction.identifiers import identifiers, without_overlaps
from knowledge_graph.extraction.names import HEADS, KINDS, PARTICLES, name_key
from knowledge_graph.extraction.records import Span
from knowledge_graph.extraction.short_forms import HONORIFICS

WORD = re.compile(r"[^\W_]+")
LINKS = PARTICLES | {"of", "for", "the", "and"}
TABLE_HEADER = re.compile(r"^[ \t]*\|[^\n]*\|[ \t]*\n(?=[ \t]*\|[ \t:|-]+$)", re.MULTILINE)
"""Its capitals say nothing: a column's name is an entity only if the text also names it elsewhere."""
SHORTEST_WRAPPED = 50
"""Minimum characters of a line that continues on the next one."""
HYPHENATED = re.compile(r"[A-ZÄÖÜ][a-zäöüß]{1,20}-[a-z]{2,10} ")
"""The hyphenated first word of "Check-in Systems" and "Add-on Store"."""
NUMBER = re.compile(r"\d{1,4}$|[IVX]{1,5}$|[A-Z]$")


def names_in_code(text: str, file_name: str) -> list[Span]:
    """Returns definitions, imports, addressed services and CamelCase names of source code."""
    return without_overlaps(
        list(code.wholes(text)),
        list(code.imports(text, file_name)),
        [span for span, _ in code.addresses(text)],
        list(code.definitions(text)),
    )


def names_in_prose(
    text: str, reading: EnglishReading, terms: Collection[str], *, nouns_have_capitals: bool = False
) -> list[Span]:
    """Returns the names in text order, without overlaps.

    `terms` are the keys of the document's lower-case terms; `nouns_have_capitals` is for German.
    """
    headers = [match.span() for match in TABLE_HEADER.finditer(text)]
    runs = [
        span
        for span in capitalised(text, nouns_have_capitals=nouns_have_capitals)
        if (" " in span.surface or span.start not in reading.common)
        and not any(start <= span.start < end for start, end in headers)
    ]
    concepts = [span for span in reading.noun_phrases if name_key(span.surface) in terms]
    runs = [_of_line(text, span) for span in runs]
    entities = _completed([_of_line(text, span) for span in reading.entities], runs, reading.common)
    found = without_overlaps(list(identifiers(text)), list(quoted_titles(text)), entities, runs, concepts)
    return joined(text, found)


def _of_line(text: str, span: Span) -> Span:
    """Returns the name up to the end of its line if the line is not wrapped: what follows is another item or field."""
    place = span.surface.find("\n")
    if place < 0:
        return span
    end = span.start + place
    if end - (text.rfind("\n", 0, end) + 1) >= SHORTEST_WRAPPED:
        return span
    return Span(span.start, end, span.surface[:place].rstrip(), span.entity_type)


def _completed(entities: Sequence[Span], runs: Sequence[Span], common: Collection[int]) -> list[Span]:
    """Returns the named entities; if they are pieces of one name by its run of capitalised words, that name instead."""
    whole: list[Span] = []
    for run in runs:
        inside = [one for one in entities if run.start <= one.start and one.end <= run.end]
        if inside and (_is_one_name(run, inside) or _is_person(run, inside, common)):
            opening = next((one.entity_type for one in inside if one.start == run.start), run.entity_type)
            opening = "PERSON" if _is_person(run, inside, common) else opening
            whole.append(Span(run.start, run.end, run.surface, opening))
    rest = [one for one in entities if not any(run.start <= one.start and one.end <= run.end for run in whole)]
    return whole + rest


def _is_person(run: Span, inside: Sequence[Span], common: Collection[int]) -> bool:
    """Returns whether the run is a first name before a last name that alone was recognised as a person."""
    first, _, last = run.surface.partition(" ")
    is_last = len(inside) == 1 and inside[0].entity_type == "PERSON" and inside[0].surface == last and " " not in last
    word = first.casefold()
    return is_last and inside[0].end == run.end and run.start not in common and word not in HEADS | KINDS | HONORIFICS


def _is_one_name(run: Span, inside: Sequence[Span]) -> bool:
    """Returns whether the run adds to the entities only linking words, numbers, initials and kinds of things."""
    if any((one.start, one.end) == (run.start, run.end) for one in inside):
        return False
    left = [
        match.group()
        for match in WORD.finditer(run.surface)
        if not any(one.start <= run.start + match.start() < one.end for one in inside)
    ]
    if HYPHENATED.fullmatch(run.surface[: min(one.start for one in inside) - run.start]):
        return True
    return all(word in LINKS or NUMBER.match(word) or word.casefold() in HEADS for word in left)
