"""The relations of a document: stated by patterns, by clauses, by imports, and co-occurrence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from knowledge_graph.extraction import code, cooccurrence, relation_phrases
from knowledge_graph.extraction.chunk_analysis import ChunkAnalysis
from knowledge_graph.extraction.clause_relations import Reference, triples
from knowledge_graph.extraction.names import entity_id, name_key
from knowledge_graph.extraction.records import Mention, RelationEvidence, SourceDocument, Span

CO_OCCURS, DEPENDS_ON = "CO_OCCURS", "DEPENDS_ON"
CO_OCCURRENCE_WEIGHT, STATED_WEIGHT = 1.0, 2.0
IMPORTED = 0.95


def of_document(document: SourceDocument, chunks: Sequence[ChunkAnalysis]) -> Iterator[RelationEvidence]:
    """Yields each relation of a sentence once, by the surest method that found it."""
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
                source, target, CO_OCCURS, CO_OCCURRENCE_WEIGHT, confidence, chunk.chunk.chunk_id, 0, 0
            )


def _stated(chunk: ChunkAnalysis) -> Iterator[RelationEvidence]:
    text, mentions = chunk.chunk.content, chunk.in_text
    spans = [Span(one.start, one.end, one.surface, one.entity_type) for one in mentions]
    for one in relation_phrases.statements(text, spans):
        yield _evidence(chunk, mentions[one.subject], mentions[one.target], one)
    headed = next((mention for mention in chunk.mentions if mention.about == "heading"), None)
    if headed is not None:
        for one, reverse in relation_phrases.field_statements(text, spans):
            ends = (mentions[one.target], headed) if reverse else (headed, mentions[one.target])
            yield _evidence(chunk, *ends, one)


def _evidence(
    chunk: ChunkAnalysis, source: Mention, target: Mention, one: relation_phrases.StatedRelation
) -> RelationEvidence:
    sentence = chunk.sentences.at(one.start)
    place = (min(sentence[0], one.start), max(sentence[1], one.end))
    return RelationEvidence(
        source.entity_id,
        target.entity_id,
        one.relation_type,
        STATED_WEIGHT,
        one.confidence,
        chunk.chunk.chunk_id,
        *place,
        "pattern",
        one.phrase,
    )


def _clauses(chunk: ChunkAnalysis, spoken_of: Reference) -> Iterator[RelationEvidence]:
    for one in triples(chunk.reading.clauses, chunk.in_text, spoken_of):
        yield RelationEvidence(
            one.source.entity_id,
            one.target.entity_id,
            one.relation_type,
            STATED_WEIGHT,
            one.confidence,
            chunk.chunk.chunk_id,
            *chunk.sentences.at(one.place),
            "dependency",
            one.phrase,
        )


def _imported(document: SourceDocument, chunk: ChunkAnalysis) -> Iterator[RelationEvidence]:
    """The file depends on what it imports."""
    source = entity_id(name_key(document.name.rpartition("/")[2]))
    modules = {(span.start, span.end) for span in code.imports(chunk.chunk.content)}
    for mention in chunk.in_text:
        if (mention.start, mention.end) in modules and mention.entity_id != source:
            yield RelationEvidence(
                source,
                mention.entity_id,
                DEPENDS_ON,
                STATED_WEIGHT,
                IMPORTED,
                chunk.chunk.chunk_id,
                mention.start,
                mention.end,
                "pattern",
                "import",
            )
