"""The relations of a document: stated by patterns, by clauses, by imports, and co-occurrence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from knowledge_graph.extraction import code, cooccurrence, relation_phrases
from knowledge_graph.extraction.english_reader import Reading
from knowledge_graph.extraction.names import entity_id, name_key
from knowledge_graph.extraction.records import Mention, Passage, RelationEvidence, SourceDocument, Span
from knowledge_graph.extraction.sentences import Sentences
from knowledge_graph.extraction.triples import Reference, triples

CO_OCCURS, DEPENDS_ON = "CO_OCCURS", "DEPENDS_ON"
CO_OCCURRENCE_WEIGHT, STATED_WEIGHT = 1.0, 2.0
IMPORTED = 0.95


@dataclass(frozen=True)
class Chunk:
    """A chunk with its mentions: those in its text by place, then those of its titles."""

    passage: Passage
    reading: Reading
    sentences: Sentences
    mentions: Sequence[Mention]

    @property
    def in_text(self) -> list[Mention]:
        return [mention for mention in self.mentions if mention.end]


def of_document(document: SourceDocument, chunks: Sequence[Chunk]) -> Iterator[RelationEvidence]:
    """Each relation of a sentence once, by the surest method that found it."""
    spoken_of = Reference()
    for chunk in chunks:
        seen: set[tuple[str, str, str, int]] = set()
        if document.is_code:
            yield from _imported(document, chunk)
        for one in [*_stated(chunk), *_clauses(chunk, spoken_of)]:
            place = (one.source_id, one.target_id, one.relation_type, one.start)
            if place not in seen and one.source_id != one.target_id:
                seen.add(place)
                yield one
        for source, target, confidence in cooccurrence.pairs(chunk.mentions):
            yield RelationEvidence(
                source, target, CO_OCCURS, CO_OCCURRENCE_WEIGHT, confidence, chunk.passage.chunk_id, 0, 0
            )


def _stated(chunk: Chunk) -> Iterator[RelationEvidence]:
    text, mentions = chunk.passage.content, chunk.in_text
    spans = [Span(one.start, one.end, one.surface, one.entity_type) for one in mentions]
    for one in relation_phrases.statements(text, spans):
        yield _evidence(chunk, mentions[one.subject], mentions[one.target], one)
    headed = next((mention for mention in chunk.mentions if mention.about == "heading"), None)
    if headed is not None:
        for one, reverse in relation_phrases.field_statements(text, spans):
            ends = (mentions[one.target], headed) if reverse else (headed, mentions[one.target])
            yield _evidence(chunk, *ends, one)


def _evidence(chunk: Chunk, source: Mention, target: Mention, one: relation_phrases.Statement) -> RelationEvidence:
    sentence = chunk.sentences.at(one.start)
    place = (min(sentence[0], one.start), max(sentence[1], one.end))
    return RelationEvidence(
        source.entity_id,
        target.entity_id,
        one.relation_type,
        STATED_WEIGHT,
        one.confidence,
        chunk.passage.chunk_id,
        *place,
        "pattern",
        one.phrase,
    )


def _clauses(chunk: Chunk, spoken_of: Reference) -> Iterator[RelationEvidence]:
    for one in triples(chunk.reading.clauses, chunk.in_text, spoken_of):
        yield RelationEvidence(
            one.source.entity_id,
            one.target.entity_id,
            one.relation_type,
            STATED_WEIGHT,
            one.confidence,
            chunk.passage.chunk_id,
            *chunk.sentences.at(one.place),
            "dependency",
            one.phrase,
        )


def _imported(document: SourceDocument, chunk: Chunk) -> Iterator[RelationEvidence]:
    """The file depends on what it imports."""
    source = entity_id(name_key(document.name.rpartition("/")[2]))
    modules = {(span.start, span.end) for span in code.imports(chunk.passage.content)}
    for mention in chunk.in_text:
        if (mention.start, mention.end) in modules and mention.entity_id != source:
            yield RelationEvidence(
                source,
                mention.entity_id,
                DEPENDS_ON,
                STATED_WEIGHT,
                IMPORTED,
                chunk.passage.chunk_id,
                mention.start,
                mention.end,
                "pattern",
                "import",
            )
