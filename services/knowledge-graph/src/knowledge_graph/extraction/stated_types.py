"""Finds the types of names that the document itself states: a manifest, a header, "the … team", "X is a service".

Such evidence outweighs a language model's guess.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from knowledge_graph.extraction import tables
from knowledge_graph.extraction.alias_statements import PROJECTS
from knowledge_graph.extraction.chunk_analysis import ChunkAnalysis
from knowledge_graph.extraction.clauses import IDENTITY
from knowledge_graph.extraction.evident_types import SYSTEMS, beside, common_names, evident_types
from knowledge_graph.extraction.full_names import EVIDENT, FULL_NAME
from knowledge_graph.extraction.identifiers import kind_of
from knowledge_graph.extraction.names import PARTS, name_key
from knowledge_graph.extraction.records import Span
from knowledge_graph.extraction.relation_phrases import terms, things
from knowledge_graph.extraction.word_lists import phrases

LONGEST_KIND = 24
KIND = "|".join(sorted((re.escape(kind) for kind in PARTS), key=len, reverse=True))
BEFORE = re.compile(rf"(?<!\w)({KIND})[ \n][`*_]{{0,3}}$", re.IGNORECASE)
AFTER = re.compile(rf"[`*_]{{0,3}}[ \n]({KIND})(?![\w-])")
OPENS = re.compile(rf"(?:The|An?|Our|Der|Die|Das|Eine?)[ \n](?:[a-z][\w-]{{0,30}}[ \n]){{0,2}}({KIND})(?![\w-])")
"""The first words under a heading: "The message broker.", "A job that starts at 02:30"."""
DEFINES = re.compile(rf" : {{1,4}}{OPENS.pattern}")
"""The same after a term of a definition list."""
LISTS = re.compile(r"(\w{3,30})(?=$|[,:;(]| [-–—(]| (?:in|of|that|we|behind|at|im|der|bei)(?!\w))")
"""The first word of a title: "Projects, winter 2026" has a project under each heading."""
OF_LISTS: dict[str, str] = {
    **{f"{kind}s": one for kind, one in PARTS.items()},
    "libraries": "LIBRARY",
    "databases": "STORE",
}
PEOPLE = re.compile(
    rf"^[ \t>]*(?:[-*•][ \t]*)?\**(?:{'|'.join(sorted(map(re.escape, phrases('people_fields'))))})\**[ \t]*:\**",
    re.IGNORECASE | re.MULTILINE,
)
TEAM_NAME = re.compile(r"[A-ZÄÖÜ][\w& -]{1,60} (?:Team|Squad|Crew|Guild)")
LONGEST_LIST = 400
IT = re.compile(r"(?<=[.!?][ \n])It[ \n][a-z]")
PERSONAL = re.compile(r"(?<!\w)(?:[Hh]e|[Ss]he|[Hh]is|[Hh]er)(?!\w)")
LONGEST_OPENING = 4
"""Characters before the name in a section that opens with it, enough for an article."""
UNTYPED = "ENTITY"
DEFINED_BY_TITLE = 2
MOST_WORDS = 3


@dataclass(frozen=True)
class StatedTypes:
    """Types by name key. Those of the names in `certain` stand in the text; the others follow from how names look."""

    types: Mapping[str, str]
    certain: frozenset[str] = frozenset()


def stated_types(chunks: Sequence[ChunkAnalysis], declared: Sequence[Span], title: str | None) -> StatedTypes:
    """Returns the types of the document's names; `declared` are the names in a manifest."""
    certain = _certain(chunks, declared)
    votes = defaultdict(Counter, {key: Counter(found) for key, found in certain.items()})
    software = dict[str, str]()
    spans = [span for chunk in chunks for span in chunk.spans]
    # An identifier such as OrderDB shows it, too.
    names_systems = any(SYSTEMS.intersection(found) for found in votes.values()) or any(
        span.entity_type in SYSTEMS and " " not in span.surface for span in spans
    )
    for surface, entity_type in evident_types(chunks, names_systems=names_systems):
        if entity_type == "LIBRARY":
            software[name_key(surface)] = entity_type
        else:
            votes[name_key(surface)][entity_type] += 1
    for key, entity_type in _listed(chunks, title):
        for counted in (votes, certain):
            counted[key][entity_type] += DEFINED_BY_TITLE
    shown = {name_key(span.surface) for span in spans if span.entity_type in EVIDENT}
    for key in sorted(_untyped(chunks, names_systems=names_systems) - votes.keys() - shown):
        for counted in (votes, certain):
            counted[key][UNTYPED] += 1
    typed = {key: max(sorted(found), key=lambda one: (certain[key][one], found[one])) for key, found in votes.items()}
    # A name that states its own type outweighs its column: projects call services, too.
    named = {name_key(span.surface) for span in spans if kind_of(span.surface) == "PROJECT"}
    types = typed | dict.fromkeys(sorted(named), "PROJECT") | software
    return StatedTypes(types, frozenset(key for key, found in certain.items() if types.get(key) in found) | named)


def _certain(chunks: Sequence[ChunkAnalysis], declared: Sequence[Span]) -> defaultdict[str, Counter[str]]:
    """Returns how often a manifest, header or phrase gives the names each type, by key."""
    certain: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in declared:
        if one.entity_type != "IDENTIFIER":
            certain[name_key(one.surface)][one.entity_type] += 1
    for chunk in chunks:
        for surface, entity_type in [*tables.types(chunk.text), *_in_phrases(chunk)]:
            certain[name_key(surface)][entity_type] += 1
    return certain


def _untyped(chunks: Sequence[ChunkAnalysis], *, names_systems: bool) -> set[str]:
    """Returns the keys of names that are not persons, whatever a language model says."""
    things = {key for chunk in chunks if (key := thing_of_section(chunk)) is not None}
    return things | (common_names(chunks) if names_systems else set())


def _listed(chunks: Sequence[ChunkAnalysis], title: str | None) -> Iterator[tuple[str, str]]:
    """Yields the keys of what a page lists if its title says what these are."""
    opening = LISTS.match(title or "")
    listed = OF_LISTS.get(opening.group(1).casefold()) if opening else None
    for chunk in chunks if listed else ():
        if len(chunk.chunk.headings) > 1 and len(chunk.chunk.headings[1].split()) <= MOST_WORDS:
            yield name_key(chunk.chunk.headings[1]), listed or ""
        for term in terms(chunk.text):
            yield name_key(term.surface), listed or ""


def thing_of_section(chunk: ChunkAnalysis) -> str | None:
    """Returns the key of the heading if its section calls it "it" and nobody "he" or "she". Such a name ("Order Inbox")
    is no person, whatever a language model says."""
    if not chunk.chunk.headings or IT.search(chunk.text) is None or PERSONAL.search(chunk.text) is not None:
        return None
    key = name_key(chunk.chunk.headings[-1])
    opens = any(span.start <= LONGEST_OPENING and name_key(span.surface) == key for span in chunk.spans)
    return key if opens else None


def _in_phrases(chunk: ChunkAnalysis) -> Iterator[tuple[str, str]]:
    text = chunk.text
    places = {span.start: span for span in chunk.spans}
    for span in chunk.spans:
        after = AFTER.match(text, span.end, span.end + LONGEST_KIND + 5)
        before = BEFORE.search(text, max(0, span.start - LONGEST_KIND), span.start)
        word = after.group(1) if after else before.group(1) if before else None
        if word is not None:
            yield span.surface, PARTS[word.casefold()]
        if TEAM_NAME.fullmatch(span.surface):
            yield span.surface, "TEAM"
        first, _, rest = span.surface.partition(" ")
        if rest and first.casefold() in PROJECTS:
            yield span.surface, "PROJECT"
            yield rest, "PROJECT"
    fields = dict(things(text))
    yield from ((span.surface, fields[span.start]) for span in chunk.spans if span.start in fields)
    yield from _people(chunk)
    yield from _defined(text)
    for clause in chunk.reading.clauses:
        if clause.relation == IDENTITY and clause.phrase in PARTS and clause.subject in places:
            yield places[clause.subject].surface, PARTS[clause.phrase]
    for span in chunk.spans:
        yield from beside(text, span)
    opens = OPENS.match(text.lstrip())
    if opens is not None and chunk.chunk.headings:
        yield chunk.chunk.headings[-1], PARTS[opens.group(1).casefold()]


def _defined(text: str) -> Iterator[tuple[str, str]]:
    """Yields the terms of a definition list of which the definition begins with a kind."""
    for term in terms(text):
        if defines := DEFINES.match(text, term.end):
            yield term.surface, PARTS[defines.group(1).casefold()]


def _people(chunk: ChunkAnalysis) -> Iterator[tuple[str, str]]:
    """Yields the names in a field for people, up to the end of its line."""
    text = chunk.text
    for field in PEOPLE.finditer(text):
        end = text.find("\n", field.end(), field.end() + LONGEST_LIST)
        end = min(len(text), field.end() + LONGEST_LIST) if end < 0 else end
        for span in chunk.spans:
            if field.end() <= span.start < end and FULL_NAME.fullmatch(span.surface):
                yield span.surface, "PERSON"
