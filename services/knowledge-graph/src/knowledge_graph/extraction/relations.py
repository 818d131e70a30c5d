"""The relations of a document: stated by patterns, by clauses, by imports, and co-occurrence."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from knowledge_graph.extraction import code, cooccurrence, relation_phrases, tables
from knowledge_graph.extraction.chunk_analysis import ChunkAnalysis
from knowledge_graph.extraction.clause_relations import Reference, triples
from knowledge_graph.extraction.manifests.reading import ReadManifest
from knowledge_graph.extraction.names import entity_id, name_key
from knowledge_graph.extraction.records import Mention, RelationEvidence, SourceDocument, Span
from knowledge_graph.extraction.relation_types import VERBS, is_dependency, is_structural
from knowledge_graph.extraction.resolution import SYSTEMS, Resolution
from knowledge_graph.extraction.tenses import CURRENT, PERFECT, of_words

CO_OCCURS, DEPENDS_ON = "CO_OCCURS", "DEPENDS_ON"
CO_OCCURRENCE_WEIGHT, STATED_WEIGHT = 1.0, 2.0
BEFORE_DECISION = frozenset({"context", "background", "kontext", "hintergrund", "ausgangslage"})
IMPORTED = DECLARED = 0.95


def of_document(
    document: SourceDocument, chunks: Sequence[ChunkAnalysis], manifest: ReadManifest, resolution: Resolution
) -> Iterator[RelationEvidence]:
    """Yields each relation of a sentence once, by the surest method that found it."""
    spoken_of = Reference()
    systems = _systems(chunks, manifest)
    yield from _declared(chunks, manifest, resolution)
    headings: tuple[str, ...] = ()
    for chunk in chunks:
        if chunk.chunk.headings != headings:
            headings = chunk.chunk.headings
            spoken_of.begin(_headed(chunk, systems))
        seen: set[tuple[str, str, str, int]] = set()
        if document.is_code:
            yield from _imported(document, chunk)
        # What a manifest says is not said in sentences.
        for one in [] if manifest.statements else [*_stated(chunk), *_clauses(chunk, spoken_of, systems)]:
            place = (one.source_id, one.target_id, one.relation_type, one.start)
            if place not in seen and one.source_id != one.target_id:
                seen.add(place)
                yield one
        for source, target, confidence in cooccurrence.pairs(chunk.mentions):
            yield RelationEvidence(
                source, target, CO_OCCURS, CO_OCCURRENCE_WEIGHT, confidence, chunk.chunk.chunk_id, 0, 0
            )


def _declared(
    chunks: Sequence[ChunkAnalysis], manifest: ReadManifest, resolution: Resolution
) -> Iterator[RelationEvidence]:
    """What the manifest declares; the line that completes the statement is the evidence."""
    for one in manifest.statements:
        ends = [manifest.places[end] for end in (one.source, one.target)]
        ids = [entity_id(resolution.key(end.span.surface)) for end in ends]
        last = max(ends, key=lambda end: (end.chunk, end.span.start))
        chunk = chunks[last.chunk].chunk
        start = chunk.content.rfind("\n", 0, last.span.start) + 1
        end = chunk.content.find("\n", last.span.end)
        place = (start, len(chunk.content) if end < 0 else end)
        yield RelationEvidence(
            *(ids[0], ids[1]), one.relation_type, STATED_WEIGHT, DECLARED, chunk.chunk_id, *place, "pattern", one.phrase
        )


def _headed(chunk: ChunkAnalysis, systems: Collection[str]) -> Mention | None:
    """Returns the part of a system that the nearest heading names."""
    headed = next((mention for mention in chunk.mentions if mention.about == "heading"), None)
    return headed if headed is not None and headed.entity_id in systems else None


def _stated(chunk: ChunkAnalysis) -> Iterator[RelationEvidence]:
    text, mentions = chunk.chunk.content, chunk.in_text
    spans = [Span(one.start, one.end, one.surface, one.entity_type) for one in mentions]
    for one in relation_phrases.statements(text, spans):
        if of_words(text, one.start, one.end, chunk.sentences.at(one.start)) == CURRENT:
            ends = mentions[one.subject], mentions[one.target]
            if _owner(one, ends[1]):
                yield _evidence(chunk, *ends[::-1], replace(one, relation_type="OWNS"), _sentence(chunk, one))
            elif one.relation_type != "PART_OF" or ends[1].entity_type != "PERSON":
                yield _evidence(chunk, *ends, one, _sentence(chunk, one))
    for one in tables.statements(text, spans):
        yield _evidence(chunk, mentions[one.subject], mentions[one.target], one, (one.start, one.end))
    headed = next((mention for mention in chunk.mentions if mention.about == "heading"), None)
    if headed is not None:
        fields = relation_phrases.field_statements(text, spans)
        for one, reverse in [*fields, *relation_phrases.list_statements(text, spans)]:
            ends = (mentions[one.target], headed) if reverse else (headed, mentions[one.target])
            yield _evidence(chunk, *ends, one, _sentence(chunk, one))


def _owner(one: relation_phrases.StatedRelation, target: Mention) -> bool:
    """Tells whether the target owns the subject: what belongs to a team is no part of it."""
    return one.relation_type == "PART_OF" and target.entity_type == "TEAM" and "belong" in one.phrase


def _sentence(chunk: ChunkAnalysis, one: relation_phrases.StatedRelation) -> tuple[int, int]:
    start, end = chunk.sentences.at(one.start)
    return min(start, one.start), max(end, one.end)


def _evidence(
    chunk: ChunkAnalysis,
    source: Mention,
    target: Mention,
    one: relation_phrases.StatedRelation,
    place: tuple[int, int],
) -> RelationEvidence:
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


def _systems(chunks: Sequence[ChunkAnalysis], manifest: ReadManifest) -> frozenset[str]:
    """Returns the entities that are parts of systems: by type, or as a pattern states that one needs the other."""
    typed = {one.entity_id for chunk in chunks for one in chunk.mentions if one.entity_type in SYSTEMS}
    if manifest.statements:
        return frozenset(typed)
    stated = [one for chunk in chunks for one in _stated(chunk) if is_dependency(one.relation_type)]
    return frozenset(typed).union(*({one.source_id, one.target_id} for one in stated))


def _clauses(chunk: ChunkAnalysis, spoken_of: Reference, systems: Collection[str]) -> Iterator[RelationEvidence]:
    for one in triples(chunk.reading.clauses, chunk.in_text, spoken_of, systems):
        if (is_structural(one.relation_type) or one.relation_type in VERBS) and not _holds(one.time, chunk):
            continue
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


def _holds(time: str, chunk: ChunkAnalysis) -> bool:
    """Tells whether what a verb says is so now; what led to a decision was so before it."""
    heading = chunk.chunk.headings[-1] if chunk.chunk.headings else chunk.text.partition("\n")[0]
    about = heading.strip("# ").casefold()
    return time == CURRENT or (time == PERFECT and about not in BEFORE_DECISION)


def _imported(document: SourceDocument, chunk: ChunkAnalysis) -> Iterator[RelationEvidence]:
    """The file depends on what it imports, and on the services whose addresses it holds."""
    source = entity_id(name_key(document.name.rpartition("/")[2]))
    modules = {(span.start, span.end) for span in code.imports(chunk.chunk.content)}
    addresses = {
        (span.start, span.end): (relation_type, "address")
        for span, relation_type in code.addresses(chunk.chunk.content)
    }
    for mention in chunk.in_text:
        place = (mention.start, mention.end)
        stated = (DEPENDS_ON, "import") if place in modules else addresses.get(place)
        if stated is not None and mention.entity_id != source:
            yield RelationEvidence(
                source,
                mention.entity_id,
                stated[0],
                STATED_WEIGHT,
                IMPORTED,
                chunk.chunk.chunk_id,
                *place,
                "pattern",
                stated[1],
            )
