"""The relations of a document: stated by patterns, clauses and imports, and co-occurrence."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise

from knowledge_graph.extraction import code, cooccurrence, german_clauses, relation_phrases, tables
from knowledge_graph.extraction.chunk_analysis import ChunkAnalysis
from knowledge_graph.extraction.clause_relations import (
    NO_PARTS,
    OWNING,
    ClauseTriple,
    Reference,
    is_between_parts,
    triples,
)
from knowledge_graph.extraction.dates import first_date
from knowledge_graph.extraction.evident_types import PLACE_HEADS, PLACES
from knowledge_graph.extraction.manifests.reading import ReadManifest
from knowledge_graph.extraction.names import entity_id, name_key
from knowledge_graph.extraction.records import Mention, RelationEvidence, SourceDocument, Span
from knowledge_graph.extraction.relation_types import BELONGS_TO, VERBS, family, is_dependency, is_structural
from knowledge_graph.extraction.resolution import SYSTEMS, Resolution
from knowledge_graph.extraction.section_things import section_thing
from knowledge_graph.extraction.stated_types import thing_of_section
from knowledge_graph.extraction.tenses import (
    CURRENT,
    NEGATED,
    OPEN,
    PAST,
    PERFECT,
    PLANNED,
    PRETERITE,
    of_preterite,
    of_words,
)
from knowledge_graph.extraction.word_lists import phrases

CO_OCCURS, DEPENDS_ON = "CO_OCCURS", "DEPENDS_ON"
CO_OCCURRENCE_WEIGHT, STATED_WEIGHT = 1.0, 2.0
BEFORE_DECISION = phrases("headings_before_decisions")
IMPORTED = DECLARED = 0.95
LONGEST_ARTICLE = 8
LONGEST_DECLARATION = 400
INSTEAD = re.compile(
    r"(?<!\w)(?:instead of|in place of|rather than|anstelle von|anstelle des|statt|anstatt) "
    r"(?:(?:the|der|des|dem|den) )?`?"
)
NOW = re.compile(r"(?<!\w)(?:now|since|from now on|today|nun|jetzt|inzwischen|seit)(?!\w)", re.IGNORECASE)
ITEM = re.compile(r"^[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t]+(?P<said>[^\n]*)", re.MULTILINE)


def of_document(
    document: SourceDocument,
    chunks: Sequence[ChunkAnalysis],
    manifest: ReadManifest,
    resolution: Resolution,
    stated_as: str = CURRENT,
) -> list[RelationEvidence]:
    """Returns each relation of a sentence once, from the most certain method that found it.

    `stated_as` is the status of the document's statements about the present; OPEN drops them.
    """
    contents = {chunk.chunk.chunk_id: chunk.text for chunk in chunks}
    found = list(_relations(document, chunks, manifest, resolution))
    numbers = {chunk.chunk.chunk_id: number for number, chunk in enumerate(chunks)}
    ended = {_fact(one) for one in found if one.status in {PAST, NEGATED}}
    left = {_fact(one): _place(one, numbers) for one in found if one.status == PAST}
    context = {chunk.chunk.chunk_id for chunk in chunks if _is_before_decision(chunk)}
    kept = []
    for one in found:
        status = one.status
        if status == CURRENT and is_structural(one.relation_type):
            # Stated in the context of a decision, and later said to be over.
            is_over = one.chunk_id in context and _fact(one) in ended
            # "Today A writes to B. … A has moved from B to C": the later sentence makes the first one past.
            is_over |= _place(one, numbers) < left.get(_fact(one), (0, 0))
            status = PAST if is_over else stated_as
        if status == OPEN:
            continue
        # "Has run on X since 2019" that is now past: the date is when it began.
        is_dated = is_structural(one.relation_type) and not (
            status == PAST and one.phrase.startswith(("has ", "have "))
        )
        dated = first_date(contents[one.chunk_id][one.start : one.end]) if is_dated else None
        kept.append(replace(one, status=status, dated=dated))
    return kept


def _place(one: RelationEvidence, numbers: dict[str, int]) -> tuple[int, int]:
    return numbers[one.chunk_id], one.start


def _fact(one: RelationEvidence) -> tuple[str, str, str]:
    return one.source_id, one.target_id, family(one.relation_type)


def _relations(
    document: SourceDocument, chunks: Sequence[ChunkAnalysis], manifest: ReadManifest, resolution: Resolution
) -> Iterator[RelationEvidence]:
    spoken_of = Reference()
    systems = _systems(chunks, manifest)
    yield from _declared(chunks, manifest, resolution)
    headings: tuple[str, ...] = ()
    for chunk in chunks:
        if chunk.chunk.headings != headings:
            headings = chunk.chunk.headings
            spoken_of.begin(_headed(chunk, systems))
        seen: set[tuple[str, str, str, str, int]] = set()
        if document.is_code:
            yield from _imported(document, chunk)
        # Sentences are not read in a manifest.
        in_words = [] if manifest.statements else [*_stated(chunk, systems), *_clauses(chunk, spoken_of, systems)]
        in_words += _in_german(chunk, systems) if document.language == "de" and not manifest.statements else []
        in_words += [instead for one in in_words for instead in _instead(chunk, one)]
        for one in in_words:
            place = (one.source_id, one.target_id, one.relation_type, one.status, one.start)
            if place not in seen and one.source_id != one.target_id:
                seen.add(place)
                yield one
        for source, target, confidence in cooccurrence.pairs(chunk.mentions):
            yield RelationEvidence(
                source, target, CO_OCCURS, CO_OCCURRENCE_WEIGHT, confidence, chunk.chunk.chunk_id, 0, 0
            )


def _instead(chunk: ChunkAnalysis, one: RelationEvidence) -> Iterator[RelationEvidence]:
    """Yields, for what "instead of" names in the sentence of a statement, that this is denied or past."""
    if one.status != CURRENT or not is_dependency(one.relation_type):
        return
    for found in INSTEAD.finditer(chunk.text, one.start, one.end):
        for mention in chunk.in_text:
            if mention.start == found.end() and mention.entity_id not in {one.source_id, one.target_id}:
                status = PAST if NOW.search(chunk.text, one.start, one.end) else NEGATED
                yield replace(one, target_id=mention.entity_id, status=status, phrase=found.group().strip())


def _declared(
    chunks: Sequence[ChunkAnalysis], manifest: ReadManifest, resolution: Resolution
) -> Iterator[RelationEvidence]:
    """Yields what the manifest declares. The evidence is the line that completes the statement; it begins at the line
    that names the other end if that is near, because `depends_on: [ledger]` alone does not say what depends."""
    for one in manifest.statements:
        ends = [manifest.places[end] for end in (one.source, one.target)]
        ids = [entity_id(resolution.key(end.span.surface)) for end in ends]
        first, last = sorted(ends, key=lambda end: (end.chunk, end.span.start))
        last = manifest.said.get(one, last)
        chunk = chunks[last.chunk].chunk
        start, end = _line(chunk.content, last.span)
        if first.chunk == last.chunk and first.span.end and first.span.start < start:
            begins, _ = _line(chunk.content, first.span)
            start = begins if end - begins <= LONGEST_DECLARATION else start
        yield RelationEvidence(
            *(ids[0], ids[1]),
            one.relation_type,
            STATED_WEIGHT,
            DECLARED,
            chunk.chunk_id,
            start=start,
            end=end,
            method="pattern",
            phrase=one.phrase,
        )


def _line(text: str, span: Span) -> tuple[int, int]:
    """Returns the line or lines that contain the span."""
    end = text.find("\n", span.end)
    return text.rfind("\n", 0, span.start) + 1, len(text) if end < 0 else end


def _headed(chunk: ChunkAnalysis, systems: Collection[str]) -> Mention | None:
    """Returns the part of a system named by the nearest heading."""
    headed = section_thing(chunk)
    return headed if headed is not None and headed.entity_id in systems else None


def _stated(chunk: ChunkAnalysis, systems: Collection[str] = ()) -> Iterator[RelationEvidence]:
    """Yields what patterns state; between `systems`, the parts of systems, more verbs count."""
    text, mentions = chunk.chunk.content, chunk.in_text
    spans = [Span(one.start, one.end, one.surface, one.entity_type) for one in mentions]
    for one in relation_phrases.statements(text, spans):
        status = of_words(text, one.start, one.end, chunk.sentences.at(one.start), denied=one.denied, phrase=one.phrase)
        if status == CURRENT and one.phrase.startswith(("has ", "have ")) and _is_before_decision(chunk):
            status = PAST
        ends = mentions[one.subject], mentions[one.target]
        is_object = german_clauses.OBJECT_FIRST.search(text[max(0, one.start - LONGEST_ARTICLE) : one.start])
        if is_object or (one.between_parts and not is_between_parts(*ends, systems)):
            continue  # "Den KeyStore nutzt Trace"
        if status != OPEN and _owner(one, ends[1]):
            owning = replace(one, relation_type="OWNS")
            yield _evidence(chunk, *ends[::-1], owning, _sentence(chunk, one), status)
        elif status != OPEN and (one.relation_type != "PART_OF" or ends[1].entity_type != "PERSON"):
            # "X belongs to Y": Y may be a team if nothing says what it is.
            is_open = "belong" in one.phrase and ends[0].entity_id in systems and ends[1].entity_id not in systems
            statements = replace(one, relation_type=BELONGS_TO) if is_open else one
            yield _evidence(chunk, *ends, statements, _sentence(chunk, one), status)
    for one in tables.statements(text, spans):
        yield _evidence(chunk, mentions[one.subject], mentions[one.target], one, (one.start, one.end))
    yield from _places(chunk)
    headed = section_thing(chunk)
    fields = list(relation_phrases.field_statements(text, spans))
    fields += relation_phrases.list_statements(text, spans)
    fields += tables.of_section(text, spans) if headed is not None and headed.entity_id in systems else []
    for one, reverse in fields:
        thing = headed if one.subject < 0 else mentions[one.subject]
        if thing is not None:
            ends = (mentions[one.target], thing) if reverse else (thing, mentions[one.target])
            yield _evidence(chunk, *ends, one, _sentence(chunk, one))


def _in_german(chunk: ChunkAnalysis, systems: Collection[str]) -> Iterator[RelationEvidence]:
    text, mentions = chunk.text, chunk.in_text
    spans = [Span(one.start, one.end, one.surface, one.entity_type) for one in mentions]
    headed = _headed(chunk, systems)
    statements = german_clauses.statements(text, spans, chunk.sentences.spans, has_section=headed is not None)
    for one in statements:
        sentence = chunk.sentences.at(one.start)
        status = of_words(text, one.start, one.end, sentence, denied=one.denied, phrase=one.phrase)
        if status == CURRENT and german_clauses.WILL.match(one.phrase):
            status = PLANNED
        if status == OPEN or (status == CURRENT and german_clauses.PRETERITE.search(one.phrase)):
            continue
        source, target = (
            headed if end == german_clauses.SECTION else mentions[end] for end in (one.subject, one.target)
        )
        if source is None or target is None or source.entity_id == target.entity_id:
            continue
        if one.relation_type == "PART_OF" and target.entity_id not in systems:
            owning = replace(one, relation_type="OWNS")
            if target.entity_type == "TEAM":
                yield _evidence(chunk, target, source, owning, _sentence(chunk, one), status)
        elif not is_dependency(one.relation_type) or not {source.entity_type, target.entity_type} & NO_PARTS:
            yield _evidence(chunk, source, target, one, _sentence(chunk, one), status)


def _places(chunk: ChunkAnalysis) -> Iterator[RelationEvidence]:
    for first, second in pairwise(chunk.in_text):
        if _is_place_in(chunk.text, first, second):
            one = relation_phrases.StatedRelation(0, 0, "PART_OF", DECLARED, first.start, second.end, "in")
            yield _evidence(chunk, first, second, one, chunk.sentences.at(first.start))


def _is_place_in(text: str, first: Mention, second: Mention) -> bool:
    """Returns whether the text says that one place is in the other: "Falk Quay in Port Callan"."""
    is_address = first.surface.rpartition(" ")[2] in PLACE_HEADS and first.entity_type in PLACES
    return is_address and second.entity_type in PLACES and text[first.end : second.start].strip("`") == " in "


def _owner(one: relation_phrases.StatedRelation, target: Mention) -> bool:
    """Returns whether the target owns the subject: belonging to a team is not being a part of it."""
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
    status: str = CURRENT,
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
        status,
    )


def _systems(chunks: Sequence[ChunkAnalysis], manifest: ReadManifest) -> frozenset[str]:
    """Returns the entities that are parts of systems, by type or because a pattern states that one needs the other."""
    typed = {one.entity_id for chunk in chunks for one in chunk.mentions if one.entity_type in SYSTEMS}
    if manifest.statements:
        return frozenset(typed)
    if typed:
        # If there are services, the subjects of sections that are called "it" are parts of systems, too.
        things = {thing_of_section(chunk) for chunk in chunks}
        typed |= {one.entity_id for chunk in chunks for one in chunk.mentions if one.name_key in things}
    # What a team owns, runs or maintains is no person.
    owned = chain.from_iterable(_owned_by_teams(chunk) for chunk in chunks)
    # Denied and past statements show this as well.
    stated = [one for chunk in chunks for one in _stated(chunk) if is_dependency(one.relation_type)]
    return frozenset(typed).union(owned, *({one.source_id, one.target_id} for one in stated))


def _owned_by_teams(chunk: ChunkAnalysis) -> Iterator[str]:
    """Yields the entities of which a clause says that a team owns or runs them."""
    for clause in chunk.reading.clauses:
        if clause.relation in OWNING:
            ends = [one for at in (clause.subject, clause.target) for one in chunk.in_text if one.start <= at < one.end]
            if len(ends) == 2 and ends[0].entity_type == "TEAM" != ends[1].entity_type:
                yield ends[1].entity_id


def _items(chunk: ChunkAnalysis) -> Iterator[tuple[int, Mention | None]]:
    """Yields the positions of list items, each with the name if the item is nothing else."""
    for item in ITEM.finditer(chunk.text):
        in_words = item["said"]
        start = item.start("said") + len(in_words) - len(in_words.lstrip("*_`"))
        end = item.start("said") + len(in_words.rstrip().rstrip("*_`"))
        yield (
            item.start(),
            next((one for one in chunk.in_text if (one.start, one.end) == (start, end)), None),
        )


def _clauses(chunk: ChunkAnalysis, spoken_of: Reference, systems: Collection[str]) -> Iterator[RelationEvidence]:
    for one in triples(chunk.reading.clauses, chunk.in_text, spoken_of, systems, list(_items(chunk))):
        status = _status(one, chunk)
        if status == OPEN:
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
            status,
        )


def _status(one: ClauseTriple, chunk: ChunkAnalysis) -> str:
    """Returns the status of a verb's statement; OPEN if it states nothing. The context of a decision is past.

    Verbs that do not say how things are built and owned state what happened, in any tense.
    """
    if not is_structural(one.relation_type):
        return CURRENT if one.time in {CURRENT, PERFECT, PRETERITE} or _is_reported(one) else OPEN
    if one.time == PRETERITE:
        return of_preterite(chunk.text[slice(*chunk.sentences.at(one.place))])
    if one.time == PERFECT:
        return PAST if _is_before_decision(chunk) else CURRENT
    return one.time


def _is_reported(one: ClauseTriple) -> bool:
    return one.time != NEGATED and one.relation_type not in VERBS


def _is_before_decision(chunk: ChunkAnalysis) -> bool:
    heading = chunk.chunk.headings[-1] if chunk.chunk.headings else chunk.text.partition("\n")[0]
    return heading.strip("# ").casefold() in BEFORE_DECISION


def _imported(document: SourceDocument, chunk: ChunkAnalysis) -> Iterator[RelationEvidence]:
    """Yields that the file depends on its imports, and on the services whose addresses it contains."""
    source = entity_id(name_key(document.name.rpartition("/")[2]))
    modules = {(span.start, span.end) for span in code.imports(chunk.chunk.content, document.name)}
    addresses = {
        (span.start, span.end): (relation_type, "address")
        for span, relation_type in code.addresses(chunk.chunk.content)
    }
    wholes = {(span.start, span.end): ("PART_OF", "part of") for span in code.wholes(chunk.chunk.content)}
    for mention in chunk.in_text:
        place = (mention.start, mention.end)
        stated = (DEPENDS_ON, "import") if place in modules else wholes.get(place) or addresses.get(place)
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
