"""The graph of one document: mentions and relations of all its chunks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from knowledge_graph.extraction import code, cooccurrence, stated
from knowledge_graph.extraction.names import entity_id, is_name, name_key
from knowledge_graph.extraction.ner import Recogniser, looks_english
from knowledge_graph.extraction.patterns import capitalised, identifiers, without_overlaps
from knowledge_graph.extraction.records import (
    Extraction,
    Mention,
    Passage,
    RelationEvidence,
    SourceDocument,
    Span,
)

CO_OCCURS, DEPENDS_ON = "CO_OCCURS", "DEPENDS_ON"
CO_OCCURRENCE_WEIGHT, STATED_WEIGHT = 1.0, 2.0
LONGEST_TITLE_WORDS = 6
NUMBERING = re.compile(r"^\s*(?:\d+(?:\.\d+)*[.)]?|[A-Z]\.|#+)\s+")
GENERIC_HEADINGS = frozenset(
    [
        "introduction",
        "overview",
        "summary",
        "abstract",
        "background",
        "conclusion",
        "conclusions",
        "references",
        "contents",
        "notes",
        "details",
        "usage",
        "examples",
        "example",
        "installation",
        "license",
        "appendix",
        "motivation",
        "rationale",
        "specification",
        "discussion",
        "results",
        "methods",
        "status",
        "history",
        "changelog",
        "faq",
        "todo",
        "purpose",
        "scope",
        "goals",
        "copyright",
        "decision",
        "decisions",
        "context",
        "consequences",
    ]
)


def extract(document: SourceDocument, recognise: Recogniser | None) -> Extraction:
    """`recognise` finds named entities; without it patterns go on alone. The same input gives the same output."""
    passages = document.passages
    named: list[list[Span]] = [[] for _ in passages]
    if recognise is not None and not document.is_code:
        english = [place for place, passage in enumerate(passages) if looks_english(passage.content)]
        for place, spans in zip(english, recognise([passages[place].content for place in english]), strict=True):
            named[place] = spans
    extraction = Extraction("ner+patterns" if recognise is not None else "patterns")
    for place, (passage, entities) in enumerate(zip(passages, named, strict=True)):
        spans = _spans(document, passage, entities)
        mentions = [_mention(span, passage) for span in spans]
        about = list(_about(document, passage, first=place == 0))
        extraction.mentions.extend(mentions + about)
        extraction.relations.extend(_co_occurrences(passage, mentions + about))
        extraction.relations.extend(_stated(passage, spans, mentions, about))
        if document.is_code:
            extraction.relations.extend(_imported(document, passage, spans, mentions))
    named_ids = {mention.entity_id for mention in extraction.mentions}
    relations = [one for one in extraction.relations if {one.source_id, one.target_id} <= named_ids]
    return replace(extraction, relations=relations)


def _spans(document: SourceDocument, passage: Passage, entities: list[Span]) -> list[Span]:
    if document.is_code:
        return without_overlaps(list(code.imports(passage.content)), list(code.definitions(passage.content)))
    found = without_overlaps(list(identifiers(passage.content)), entities, list(capitalised(passage.content)))
    fields = {match.start(1) for match in stated.FIELD.finditer(passage.content)}
    return [span for span in found if span.start not in fields]


def _mention(span: Span, passage: Passage, *, about: str | None = None) -> Mention:
    key = name_key(span.surface)
    start, end = (0, 0) if about else (span.start, span.end)
    return Mention(entity_id(key), key, span.surface, span.entity_type, passage.chunk_id, start, end, about)


def _about(document: SourceDocument, passage: Passage, *, first: bool) -> Iterator[Mention]:
    """Of the heading that the chunk stands under; of title and file name for the document's first chunk."""
    seen: set[str] = set()
    titles = [(heading, "CONCEPT", "heading") for heading in passage.headings[-1:]]
    if first:
        titles.append((document.title or "", "DOCUMENT", "title"))
        titles.append((document.name.rpartition("/")[2], "DOCUMENT", "name"))
    for title, entity_type, about in titles:
        for span in _title_spans(title, entity_type):
            mention = _mention(span, passage, about=about)
            if mention.entity_id not in seen:
                seen.add(mention.entity_id)
                yield mention


def _title_spans(title: str, entity_type: str) -> list[Span]:
    """The title itself when it is short enough to be a name, and identifiers inside a longer one."""
    plain = NUMBERING.sub("", title).strip().strip("`*_ .:")
    found = without_overlaps(list(identifiers(plain)))
    if len(found) == 1 and found[0].surface == plain:
        return found
    whole = Span(0, len(plain), plain, entity_type)
    is_short = len(plain.split()) <= LONGEST_TITLE_WORDS and plain.casefold() not in GENERIC_HEADINGS and is_name(plain)
    return [whole, *found] if is_short else found


def _co_occurrences(passage: Passage, mentions: Sequence[Mention]) -> Iterator[RelationEvidence]:
    for source, target in cooccurrence.pairs(mentions):
        yield RelationEvidence(source, target, CO_OCCURS, CO_OCCURRENCE_WEIGHT, 0.5, passage.chunk_id, 0, 0)


def _stated(
    passage: Passage, spans: Sequence[Span], mentions: Sequence[Mention], about: Sequence[Mention]
) -> Iterator[RelationEvidence]:
    for one in stated.statements(passage.content, spans):
        yield from _evidence(mentions[one.subject].entity_id, mentions[one.target].entity_id, one, passage)
    if passage.headings and about:
        for one, reverse in stated.field_statements(passage.content, spans):
            ends = about[0].entity_id, mentions[one.target].entity_id
            yield from _evidence(*(ends[::-1] if reverse else ends), one, passage)


def _evidence(source: str, target: str, one: stated.Statement, passage: Passage) -> Iterator[RelationEvidence]:
    if source != target:
        yield RelationEvidence(
            source,
            target,
            one.relation_type,
            STATED_WEIGHT,
            one.confidence,
            passage.chunk_id,
            one.start,
            one.end,
            "pattern",
        )


def _imported(
    document: SourceDocument, passage: Passage, spans: Sequence[Span], mentions: Sequence[Mention]
) -> Iterator[RelationEvidence]:
    """The file depends on what it imports."""
    source = entity_id(name_key(document.name.rpartition("/")[2]))
    modules = {(span.start, span.end) for span in code.imports(passage.content)}
    for span, mention in zip(spans, mentions, strict=True):
        if (span.start, span.end) in modules and mention.entity_id != source:
            yield RelationEvidence(
                source,
                mention.entity_id,
                DEPENDS_ON,
                STATED_WEIGHT,
                0.95,
                passage.chunk_id,
                span.start,
                span.end,
                "pattern",
            )
