"""From spans to mentions: resolved ids, the sentence, and whether the chunk is about the name."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from knowledge_graph.extraction.alias_statements import Statement, american, synonym
from knowledge_graph.extraction.names import entity_id, name_key
from knowledge_graph.extraction.reading import Reading
from knowledge_graph.extraction.records import Alias, Mention, Passage, Span
from knowledge_graph.extraction.resolution import Resolution
from knowledge_graph.extraction.sentences import Sentences
from knowledge_graph.extraction.subjects import subject

NO_SPELLINGS = frozenset({"PERSON", "CONCEPT", "IDENTIFIER", "DOCUMENT"})


def mentions_of(
    passage: Passage,
    spans: Sequence[Span],
    titles: Sequence[tuple[Span, str]],
    definitions: Collection[Span],
    sentences: Sentences,
    reading: Reading,
    resolution: Resolution,
) -> list[Mention]:
    """Those in the text by place, then what titles, headings and file name say."""
    first = subject(passage.content, sentences, spans, {clause.subject for clause in reading.clauses})
    found = []
    for span in spans:
        about = "definition" if span in definitions else "subject" if span == first else None
        found.append(_mention(span, passage, resolution, (span.start, span.end), about, sentences.at(span.start)))
    seen: set[str] = set()
    for span, about in titles:
        mention = _mention(span, passage, resolution, (0, 0), about, (0, 0))
        # Other documents call it as its title does, however this one spells it out ("Julie Ethel Dash").
        key = name_key(span.surface)
        for one in (mention, replace(mention, entity_id=entity_id(key), name_key=key)):
            if one.entity_id not in seen:
                seen.add(one.entity_id)
                found.append(one)
    return found


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
