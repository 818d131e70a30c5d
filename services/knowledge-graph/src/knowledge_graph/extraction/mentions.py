"""Converts spans to mentions: resolved ids, the sentence, and whether the chunk is about the name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from knowledge_graph.extraction.alias_statements import AliasStatement, american, synonym
from knowledge_graph.extraction.chunk_analysis import ChunkAnalysis
from knowledge_graph.extraction.names import entity_id, name_key
from knowledge_graph.extraction.records import Alias, Mention, SourceChunk, Span
from knowledge_graph.extraction.resolution import Resolution
from knowledge_graph.extraction.sentences import Sentences
from knowledge_graph.extraction.subjects import subject
from knowledge_graph.extraction.topics import Topics

NO_SPELLINGS = frozenset({"PERSON", "CONCEPT", "IDENTIFIER", "DOCUMENT"})


def mentions_of(chunk: ChunkAnalysis, resolution: Resolution, topics: Topics) -> list[Mention]:
    """Returns the mentions in text order, then those of titles, headings, file name and opening definition.

    `topics` carries over from earlier chunks; it is read and updated.
    """
    source, sentences = chunk.chunk, chunk.sentences
    first = subject(chunk.text, sentences, chunk.spans, {clause.subject for clause in chunk.reading.clauses})
    found = []
    for span in chunk.spans:
        about = "definition" if span in chunk.definitions else "subject" if span == first else None
        found.append(_mention(span, source, resolution, (span.start, span.end), about, sentences.at(span.start)))
    seen = {one.entity_id for one in found if one.about == "definition"}
    for span, about in [*chunk.titles, *_other_names(chunk)]:
        mention = _mention(span, source, resolution, (0, 0), about, (0, 0))
        # Other documents use the name in the title, even if this one spells it out ("Julie Ethel Dash").
        key = name_key(span.surface)
        for one in (mention, replace(mention, entity_id=entity_id(key), name_key=key)):
            if one.entity_id not in seen:
                seen.add(one.entity_id)
                found.append(one)
    continued = topics.continued(chunk.text, source.chunk_id)
    topics.follow(found)
    if continued is not None and all(one.entity_id != continued.entity_id or not one.about for one in found):
        found.append(continued)
    return found


def _other_names(chunk: ChunkAnalysis) -> Iterator[tuple[Span, str]]:
    """Yields the other names of the subject that the opening defines."""
    if chunk.opening is not None:
        for name in chunk.opening.others:
            yield Span(0, 0, name, chunk.opening.name.entity_type), "definition"


def aliases_of(
    chunk: SourceChunk, statements: Sequence[AliasStatement], spans: Sequence[Span], sentences: Sentences
) -> Iterator[Alias]:
    """Yields the aliases that the chunk states, and those of spellings that mean the same in every text."""
    for one in statements:
        place = min(one.alias.start, one.target.start), max(one.alias.end, one.target.end)
        yield from _alias(one.alias.surface, one.target.surface, chunk, place, one.method)
    for span in spans:
        name = synonym(span.surface)
        if name is not None:
            yield from _alias(span.surface, name, chunk, sentences.at(span.start), "abbreviation")
        spelled = american(span.surface) if span.entity_type not in NO_SPELLINGS else None
        if spelled is not None:
            yield from _alias(span.surface, spelled, chunk, sentences.at(span.start), "spelling")


def _alias(alias: str, target: str, chunk: SourceChunk, place: tuple[int, int], method: str) -> Iterator[Alias]:
    keys = name_key(alias), name_key(target)
    if keys[0] != keys[1] and all(keys):
        yield Alias(
            entity_id(keys[0]), keys[0], alias, entity_id(keys[1]), keys[1], target, chunk.chunk_id, *place, method
        )


def _mention(
    span: Span,
    chunk: SourceChunk,
    resolution: Resolution,
    place: tuple[int, int],
    about: str | None,
    sentence: tuple[int, int],
) -> Mention:
    key = resolution.key(span.surface)
    entity_type = resolution.entity_type(span.surface, span.entity_type)
    return Mention(entity_id(key), key, span.surface, entity_type, chunk.chunk_id, *place, about, *sentence)
