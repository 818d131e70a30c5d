"""From spans to mentions: resolved ids, the sentence, and whether the chunk is about the name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from knowledge_graph.extraction.alias_statements import Statement, american, synonym
from knowledge_graph.extraction.chunk_analysis import Part
from knowledge_graph.extraction.names import entity_id, name_key
from knowledge_graph.extraction.records import Alias, Mention, Passage, Span
from knowledge_graph.extraction.resolution import Resolution
from knowledge_graph.extraction.sentences import Sentences
from knowledge_graph.extraction.subjects import subject
from knowledge_graph.extraction.topics import Topics

NO_SPELLINGS = frozenset({"PERSON", "CONCEPT", "IDENTIFIER", "DOCUMENT"})


def mentions_of(part: Part, resolution: Resolution, topics: Topics) -> list[Mention]:
    """Those in the text by place, then what titles, headings, file name and the text's opening say; `topics` of earlier
    chunks are read and brought up to date."""
    passage, sentences = part.passage, part.sentences
    first = subject(part.text, sentences, part.spans, {clause.subject for clause in part.reading.clauses})
    found = []
    for span in part.spans:
        about = "definition" if span in part.definitions else "subject" if span == first else None
        found.append(_mention(span, passage, resolution, (span.start, span.end), about, sentences.at(span.start)))
    seen = {one.entity_id for one in found if one.about == "definition"}
    for span, about in [*part.titles, *_other_names(part)]:
        mention = _mention(span, passage, resolution, (0, 0), about, (0, 0))
        # Other documents call it as its title does, however this one spells it out ("Julie Ethel Dash").
        key = name_key(span.surface)
        for one in (mention, replace(mention, entity_id=entity_id(key), name_key=key)):
            if one.entity_id not in seen:
                seen.add(one.entity_id)
                found.append(one)
    continued = topics.continued(part.text, passage.chunk_id)
    topics.follow(found)
    if continued is not None and all(one.entity_id != continued.entity_id or not one.about for one in found):
        found.append(continued)
    return found


def _other_names(part: Part) -> Iterator[tuple[Span, str]]:
    """Of what the text's opening defines."""
    if part.opening is not None:
        for name in part.opening.others:
            yield Span(0, 0, name, part.opening.name.entity_type), "definition"


def aliases_of(
    passage: Passage, statements: Sequence[Statement], spans: Sequence[Span], sentences: Sentences
) -> Iterator[Alias]:
    """What the chunk states, and spellings that mean the same everywhere."""
    for one in statements:
        place = min(one.alias.start, one.target.start), max(one.alias.end, one.target.end)
        yield from _alias(one.alias.surface, one.target.surface, passage, place, one.method)
    for span in spans:
        name = synonym(span.surface)
        if name is not None:
            yield from _alias(span.surface, name, passage, sentences.at(span.start), "abbreviation")
        spelled = american(span.surface) if span.entity_type not in NO_SPELLINGS else None
        if spelled is not None:
            yield from _alias(span.surface, spelled, passage, sentences.at(span.start), "spelling")


def _alias(alias: str, target: str, passage: Passage, place: tuple[int, int], method: str) -> Iterator[Alias]:
    keys = name_key(alias), name_key(target)
    if keys[0] != keys[1] and all(keys):
        yield Alias(
            entity_id(keys[0]), keys[0], alias, entity_id(keys[1]), keys[1], target, passage.chunk_id, *place, method
        )


def _mention(
    span: Span,
    passage: Passage,
    resolution: Resolution,
    place: tuple[int, int],
    about: str | None,
    sentence: tuple[int, int],
) -> Mention:
    key = resolution.key(span.surface)
    entity_type = resolution.entity_type(span.surface, span.entity_type)
    return Mention(entity_id(key), key, span.surface, entity_type, passage.chunk_id, *place, about, *sentence)
