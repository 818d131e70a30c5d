"""Builds the graph of one document: mentions, aliases, candidates and relations of all its chunks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from knowledge_graph.extraction import alias_statements, german_clauses, relation_phrases, relations, tables
from knowledge_graph.extraction.candidates import candidates
from knowledge_graph.extraction.chunk_analysis import ChunkAnalysis
from knowledge_graph.extraction.concepts import terms
from knowledge_graph.extraction.definitions import opening
from knowledge_graph.extraction.disambiguation import Disambiguation
from knowledge_graph.extraction.english_reader import EnglishReader, EnglishReading
from knowledge_graph.extraction.field_lines import with_fields_apart
from knowledge_graph.extraction.full_names import EVIDENT
from knowledge_graph.extraction.identifiers import without_overlaps
from knowledge_graph.extraction.lower_case_names import as_names, lower_case_names
from knowledge_graph.extraction.lower_case_names import occurrences as occurrences_in_small_letters
from knowledge_graph.extraction.manifests.reading import read_manifest
from knowledge_graph.extraction.mentions import aliases_of, mentions_of
from knowledge_graph.extraction.names import name_key
from knowledge_graph.extraction.options import options, without_verbs
from knowledge_graph.extraction.records import Extraction, Mention, SourceDocument, Span
from knowledge_graph.extraction.relation_phrases import FIELD
from knowledge_graph.extraction.resolution import NOTHING, Resolution, resolve, with_types
from knowledge_graph.extraction.roles import typed_by_roles
from knowledge_graph.extraction.sentences import Sentences
from knowledge_graph.extraction.spans import names_in_code, names_in_prose
from knowledge_graph.extraction.standing import REJECTED, standing
from knowledge_graph.extraction.stated_types import StatedTypes, stated_types
from knowledge_graph.extraction.subjects import defined
from knowledge_graph.extraction.tenses import OPEN
from knowledge_graph.extraction.titles import occurrences, titles
from knowledge_graph.extraction.topics import Topics


@dataclass(frozen=True)
class Methods:
    """What extraction uses besides patterns; `dependency` needs a reader with the parser."""

    dependency: bool = True
    resolution: bool = True


ALL = Methods()


@dataclass(frozen=True)
class _Prepared:
    """A document to extract. `small` are the names in it that are written in small letters, `english` the texts of its
    chunks for a reader of English (none if they are not English)."""

    document: SourceDocument
    small: frozenset[str]
    english: list[str]

    @classmethod
    def of(cls, document: SourceDocument) -> _Prepared:
        if document.is_code:
            return cls(document, frozenset(), [])
        document = replace(document, chunks=tuple(map(with_fields_apart, document.chunks)))
        small = lower_case_names(document.chunks)
        english = document.chunks if document.is_english else ()
        return cls(document, small, [as_names(chunk.content, small) for chunk in english])


def extract(document: SourceDocument, read: EnglishReader | None, methods: Methods = ALL) -> Extraction:
    """Extracts the graph of one document, as `extract_all` does."""
    return extract_all([document], read, methods)[0]


def extract_all(
    documents: Sequence[SourceDocument], read: EnglishReader | None, methods: Methods = ALL
) -> list[Extraction]:
    """Extracts the documents' graphs; the same document gives the same graph, whatever the others are.

    `read` finds names and clauses in English text, in that of all documents together, which is faster; without it only
    patterns apply.
    """
    prepared = [_Prepared.of(document) for document in documents]
    if read is None:
        return [_extract(one, None, methods) for one in prepared]
    readings = iter(read([text for one in prepared for text in one.english]))
    return [_extract(one, list(islice(readings, len(one.english))), methods) for one in prepared]


def _extract(prepared: _Prepared, read: list[EnglishReading] | None, methods: Methods) -> Extraction:
    """Extracts a graph; `read` is what an English reader found in each chunk, None if there is no reader."""
    document, small = prepared.document, prepared.small
    readings, method, notes = _readings(document, read, methods, small)
    manifest = read_manifest(document)
    notes += [manifest.note] if manifest.note else []
    chunks = [
        ChunkAnalysis(chunk, reading, Sentences(chunk.content), list(titles(document, chunk, first=place == 0)))
        for place, (chunk, reading) in enumerate(zip(document.chunks, readings, strict=True))
    ]
    used = terms(phrase for chunk in chunks for phrase in chunk.reading.noun_phrases)
    if not document.is_code:
        for chunk in chunks:
            chunk.opening = opening(chunk.text, chunk.reading.entities)
    tasks = options(chunk.text for chunk in chunks)
    titled = [span for chunk in chunks for span, about in chunk.titles if about == "title"]
    titled += [chunk.opening.name for chunk in chunks if chunk.opening and " " in chunk.opening.name.surface]
    certain = list(chain.from_iterable(german_clauses.names(one.text) for one in chunks if document.language == "de"))
    for place, chunk in enumerate(chunks):
        _find_names(chunk, used, [*titled, *certain], document, small)
        chunk.spans = without_overlaps(manifest.spans(place), without_verbs(chunk.spans, tasks))
    declared = [place.span for place in manifest.places.values()]
    stated = StatedTypes({}) if document.is_code and not declared else stated_types(chunks, declared, document.title)
    types = stated.types
    resolution = with_types(_resolution(chunks, types) if methods.resolution else NOTHING, types)
    known = _known(chunks, resolution)
    headings = {name_key(heading) for chunk in chunks for heading in chunk.chunk.headings}
    known |= {key: types[key] for key in sorted(headings & types.keys()) if types[key] in EVIDENT}
    # "Project Lantern … Lantern builds on X": the bare name is known too.
    known |= {key: one for key, one in sorted(types.items()) if one == "PROJECT" and f"project{key}" in known}
    for chunk in chunks:
        _complete(chunk, resolution, known)
    disambiguation, topics = Disambiguation(chunks, resolution), Topics()
    own = standing(document)
    extraction = Extraction(method, notes=notes, standing=own)
    for chunk in chunks:
        chunk.mentions = mentions_of(chunk, disambiguation.resolved(chunk), topics)
        extraction.mentions.extend(chunk.mentions)
        extraction.candidates.extend(chunk.candidates)
        extraction.aliases.extend(aliases_of(chunk.chunk, chunk.statements, chunk.spans, chunk.sentences))
    stated_as = OPEN if own.status == REJECTED else own.status
    extraction.relations.extend(relations.of_document(document, chunks, manifest, resolution, stated_as))
    typed = typed_by_roles(extraction.mentions, extraction.relations)
    extraction.mentions[:] = _telling(typed, {resolution.targets.get(key, key): types[key] for key in stated.certain})
    return extraction


def _telling(mentions: Sequence[Mention], certain: Mapping[str, str]) -> Iterator[Mention]:
    """Yields the mentions; the first of each name whose type the document states says so."""
    seen = set[str]()
    for one in mentions:
        says = certain.get(one.name_key) == one.entity_type and one.name_key not in seen
        seen.update([one.name_key] if says else ())
        yield replace(one, states_type=True) if says else one


def _readings(
    document: SourceDocument, read: list[EnglishReading] | None, methods: Methods, small: frozenset[str]
) -> tuple[list[EnglishReading], str, list[str]]:
    """Returns a reading of each chunk, the method, and notes about the method."""
    nothing = [EnglishReading() for _ in document.chunks]
    if document.is_code:
        return nothing, "patterns", []
    if read is None:
        return nothing, "patterns", ["spaCy or its English model is not installed: names by patterns alone"]
    if not document.is_english:
        return nothing, "patterns", [f"the document is not English ({document.language}): names by patterns alone"]
    if small:
        read = [_as_written(one, chunk.content, small) for one, chunk in zip(read, document.chunks, strict=True)]
    if methods.dependency:
        return read, "ner+patterns+dependency", []
    return read, "ner+patterns", ["the parser is turned off: no relations by clauses, no lower-case terms"]


def _as_written(reading: EnglishReading, text: str, small: frozenset[str]) -> EnglishReading:
    """Returns the reading without the capitals that were added for the reader."""
    written = [replace(span, surface=text[span.start : span.end]) for span in reading.entities]
    # "Owns ordersvc" is not a name.
    entities = [span for span in written if small.isdisjoint(span.surface.split())]
    entities = [span for span in entities if any(char.isupper() for char in span.surface)]
    return replace(reading, entities=entities)


def _find_names(
    chunk: ChunkAnalysis,
    used: frozenset[str],
    titled: Sequence[Span],
    document: SourceDocument,
    small: frozenset[str],
) -> None:
    """Finds the names in this chunk's own text."""
    text = chunk.text
    if document.is_code:
        chunk.spans = names_in_code(text, document.name)
        return
    read = names_in_prose(text, chunk.reading, used, nouns_have_capitals=document.language == "de")
    whole = [chunk.opening.name] if chunk.opening else []
    listed = list(tables.names(text))
    found = without_overlaps(
        whole,
        [span for span in listed if span.entity_type == "TEAM"],
        list(occurrences(text, titled, read)),
        read,
        list(occurrences_in_small_letters(text, small)),
        [
            *listed,
            *relation_phrases.listed_names(text),
            *relation_phrases.teams(text),
            *relation_phrases.terms(text),
            *relation_phrases.owners(text),
        ],
    )
    chunk.statements = list(alias_statements.statements(text, found))
    stated = whole + [span for one in chunk.statements for span in (one.alias, one.target)]
    fields = {match.start(1) for match in FIELD.finditer(text)}
    spans = [span for span in without_overlaps(stated, found) if span.start not in fields]
    definitions = [*whole, *defined(text, spans)]
    chunk.spans = without_overlaps(spans, definitions)
    chunk.definitions = set(definitions).intersection(chunk.spans)


def _resolution(chunks: Sequence[ChunkAnalysis], types: Mapping[str, str]) -> Resolution:
    stated = [(one.alias.surface, one.target.surface) for chunk in chunks for one in chunk.statements]
    # Teams take no part in short forms: "Falk" is not Ronja Falk.
    teams = {key for key, entity_type in types.items() if entity_type == "TEAM"}
    named = [
        replace(span, entity_type="TEAM") if name_key(span.surface) in teams else span
        for chunk in chunks
        for span in chunk.spans
    ]
    # "0008-fee-ledger.md" is not a longer name of the Ledger.
    titled = [span for chunk in chunks for span, about in chunk.titles if about != "name" or _is_title(span)]
    return resolve([*named, *titled], stated)


def _is_title(span: Span) -> bool:
    """Returns whether the file name can name a thing: "Lothair_II.txt", a module."""
    return span.entity_type == "LIBRARY" or not span.surface.islower()


def _known(chunks: Sequence[ChunkAnalysis], resolution: Resolution) -> dict[str, str]:
    """Returns the keys of all names of the document's text, with their types."""
    keys = {name_key(span.surface): span for chunk in chunks for span in chunk.spans}
    return {
        key: resolution.entity_type(span.surface, span.entity_type)
        for key, span in sorted(keys.items())
        if key not in resolution.generic
    }


def _complete(chunk: ChunkAnalysis, resolution: Resolution, known: dict[str, str]) -> None:
    """Drops generic names, and adds names of the document that only other chunks show to be names."""
    kept = [span for span in chunk.spans if name_key(span.surface) not in resolution.generic]
    possible = list(candidates(chunk.text, chunk.sentences, kept, chunk.chunk.chunk_id))
    again = [
        Span(one.start, one.end, one.surface, known[key]) for one in possible if (key := name_key(one.surface)) in known
    ]
    chunk.spans = without_overlaps(kept, again)
    taken = [(span.start, span.end) for span in chunk.spans]
    chunk.candidates = [
        one for one in possible if not any(start <= one.start and one.end <= end for start, end in taken)
    ]
