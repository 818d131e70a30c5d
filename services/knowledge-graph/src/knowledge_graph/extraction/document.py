"""The graph of one document: mentions, aliases, candidates and relations of all its chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from knowledge_graph.extraction import alias_statements, relations
from knowledge_graph.extraction.candidates import candidates
from knowledge_graph.extraction.chunk_analysis import Part
from knowledge_graph.extraction.concepts import terms
from knowledge_graph.extraction.definitions import opening
from knowledge_graph.extraction.disambiguation import Ties
from knowledge_graph.extraction.english_reader import Reader, Reading
from knowledge_graph.extraction.identifiers import without_overlaps
from knowledge_graph.extraction.language import looks_english
from knowledge_graph.extraction.meaning import Encode, Meaning
from knowledge_graph.extraction.mentions import aliases_of, mentions_of
from knowledge_graph.extraction.names import name_key
from knowledge_graph.extraction.near_spellings import respelled
from knowledge_graph.extraction.records import Extraction, SourceDocument, Span
from knowledge_graph.extraction.relation_phrases import FIELD
from knowledge_graph.extraction.resolution import NOTHING, Resolution, resolve
from knowledge_graph.extraction.sentences import Sentences
from knowledge_graph.extraction.spans import names_in_code, names_in_prose
from knowledge_graph.extraction.subjects import defined
from knowledge_graph.extraction.titles import occurrences, titles
from knowledge_graph.extraction.topics import Topics


@dataclass(frozen=True)
class Methods:
    """What extraction does beside patterns; `dependency` needs a reader with the parser."""

    dependency: bool = True
    resolution: bool = True


ALL = Methods()


def extract(
    document: SourceDocument, read: Reader | None, methods: Methods = ALL, encode: Encode | None = None
) -> Extraction:
    """`read` finds names and clauses in English text; without it patterns go on alone. `encode` decides where rules
    leave open what a short name stands for; without it that stays open. The same input gives the same output."""
    readings, method, notes = _readings(document, read, methods)
    parts = [
        Part(passage, reading, Sentences(passage.content), list(titles(document, passage, first=place == 0)))
        for place, (passage, reading) in enumerate(zip(document.passages, readings, strict=True))
    ]
    used = terms(phrase for part in parts for phrase in part.reading.noun_phrases)
    if not document.is_code:
        for part in parts:
            part.opening = opening(part.text, part.reading.entities)
    titled = [span for part in parts for span, about in part.titles if about == "title"]
    titled += [part.opening.name for part in parts if part.opening and " " in part.opening.name.surface]
    for part in parts:
        _name(part, used, titled, is_code=document.is_code)
    resolution = _resolution(parts) if methods.resolution else NOTHING
    known = _known(parts, resolution)
    for part in parts:
        _complete(part, resolution, known)
    meaning = Meaning(encode if methods.resolution else None)
    resolution = respelled(parts, resolution, meaning) if methods.resolution else NOTHING
    ties, topics = Ties(parts, resolution, meaning), Topics()
    extraction = Extraction(method, notes=notes)
    for part in parts:
        part.mentions = mentions_of(part, ties.settled(part), topics)
        extraction.mentions.extend(part.mentions)
        extraction.candidates.extend(part.candidates)
        extraction.aliases.extend(aliases_of(part.passage, part.statements, part.spans, part.sentences))
    extraction.relations.extend(
        relations.of_document(
            document, [relations.Chunk(one.passage, one.reading, one.sentences, one.mentions) for one in parts]
        )
    )
    extraction.notes.extend(meaning.notes())
    return extraction


def _readings(document: SourceDocument, read: Reader | None, methods: Methods) -> tuple[list[Reading], str, list[str]]:
    """One for each chunk, the method, and what there is to say about it."""
    readings = [Reading() for _ in document.passages]
    if document.is_code:
        return readings, "patterns", []
    if read is None:
        return readings, "patterns", ["spaCy or its English model is not installed: names by patterns alone"]
    english = [place for place, passage in enumerate(document.passages) if looks_english(passage.content)]
    for place, reading in zip(english, read([document.passages[place].content for place in english]), strict=True):
        readings[place] = reading
    notes, others = [], len(readings) - len(english)
    if others:
        notes.append(f"{others} of {len(readings)} chunks are not English: names by patterns alone, no clauses")
    if not methods.dependency:
        notes.append("the parser is turned off: no relations by clauses, no lower-case terms")
    method = "ner+patterns+dependency" if methods.dependency else "ner+patterns"
    return readings, method if english else "patterns", notes


def _name(part: Part, used: frozenset[str], titled: Sequence[Span], *, is_code: bool) -> None:
    """The names that this chunk's own text gives."""
    text = part.passage.content
    if is_code:
        part.spans = names_in_code(text)
        return
    read = names_in_prose(text, part.reading, used)
    whole = [part.opening.name] if part.opening else []
    found = without_overlaps(whole, list(occurrences(text, titled, read)), read)
    part.statements = list(alias_statements.statements(text, found))
    stated = whole + [span for one in part.statements for span in (one.alias, one.target)]
    fields = {match.start(1) for match in FIELD.finditer(text)}
    spans = [span for span in without_overlaps(stated, found) if span.start not in fields]
    definitions = [*whole, *defined(text, spans)]
    part.spans = without_overlaps(spans, definitions)
    part.definitions = set(definitions).intersection(part.spans)


def _resolution(parts: Sequence[Part]) -> Resolution:
    stated = [(one.alias.surface, one.target.surface) for part in parts for one in part.statements]
    named = [span for part in parts for span in part.spans]
    return resolve([*named, *(span for part in parts for span, _ in part.titles)], stated)


def _known(parts: Sequence[Part], resolution: Resolution) -> dict[str, str]:
    """Keys of all names of the document's text, with their types."""
    keys = {name_key(span.surface): span for part in parts for span in part.spans}
    return {
        key: resolution.entity_type(span.surface, span.entity_type)
        for key, span in sorted(keys.items())
        if key not in resolution.generic
    }


def _complete(part: Part, resolution: Resolution, known: dict[str, str]) -> None:
    """Drops what names nothing, and finds the document's names where only another place gave them away."""
    kept = [span for span in part.spans if name_key(span.surface) not in resolution.generic]
    text, chunk_id = part.passage.content, part.passage.chunk_id
    possible = list(candidates(text, part.sentences, kept, chunk_id))
    again = [
        Span(one.start, one.end, one.surface, known[key]) for one in possible if (key := name_key(one.surface)) in known
    ]
    part.spans = without_overlaps(kept, again)
    taken = [(span.start, span.end) for span in part.spans]
    part.candidates = [
        one for one in possible if not any(start <= one.start and one.end <= end for start, end in taken)
    ]
