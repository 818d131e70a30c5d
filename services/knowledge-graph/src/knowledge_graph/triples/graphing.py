"""Converts triples to the rows of a document: mentions, relations, aliases. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import UUID

from knowledge_graph.extraction.names import LONGEST_NAME, entity_id, name_key
from knowledge_graph.extraction.records import Alias, Extraction, Mention, RelationEvidence
from knowledge_graph.triples.records import LONGEST_PREDICATE, LONGEST_TYPE, ReadTriples, Triple, upper_snake

METHOD = "user"
UNKNOWN_TYPE = "ENTITY"
STATED_WEIGHT, CO_OCCURRENCE_WEIGHT = 2.0, 1.0
# ALIAS_OF: the subject is another name of the object. HAS_ALIAS: the object is another name of the subject.
ALIAS_OF = frozenset(["ALIAS_OF", "SAME_AS", "ABBREVIATION_OF", "SHORT_FOR", "STANDS_FOR"])
HAS_ALIAS = frozenset(["ALIAS", "HAS_ALIAS", "ALSO_KNOWN_AS", "KNOWN_AS", "ALT_LABEL", "ABBREVIATION"])
TYPED = frozenset(["TYPE", "RDF_TYPE", "ENTITY_TYPE"])


@dataclass
class Graphing:
    """The rows built so far."""

    place: str
    types: dict[str, str] = field(default_factory=dict)
    mentions: list[Mention] = field(default_factory=list)
    relations: dict[tuple[str, str, str], RelationEvidence] = field(default_factory=dict)
    aliases: dict[tuple[str, str], Alias] = field(default_factory=dict)
    repeated: int = 0
    reflexive: int = 0


def place_of(import_id: UUID) -> str:
    """Returns the value used instead of a chunk id; no chunk has it."""
    return f"import:{import_id.hex}"


def graphed(import_id: UUID, read: ReadTriples) -> Extraction:
    """Converts triples to the rows of a document; the same triples always give the same rows.

    Each triple is a mention of its two names and a relation between them. A triple that equates two names is an alias;
    one that states a type gives its subject the type.
    """
    made = Graphing(place_of(import_id))
    for typed in read.types:
        made.types.setdefault(entity_id(name_key(typed.name)), typed.entity_type)
    for triple in read.triples:
        _note_types(made, triple)
    for typed in read.types:
        made.mentions.append(_mention(made, typed.name))
    for triple in read.triples:
        _add(made, triple)
    notes = [*read.notes, *_notes(made)]
    return Extraction(METHOD, made.mentions, list(made.relations.values()), list(made.aliases.values()), notes=notes)


def _note_types(made: Graphing, triple: Triple) -> None:
    if triple.subject_type:
        made.types.setdefault(_id(triple.subject), triple.subject_type)
    if triple.object_type:
        made.types.setdefault(_id(triple.object), triple.object_type)
    if _relation_type(triple) in TYPED:
        made.types.setdefault(_id(triple.subject), upper_snake(triple.object, "type", LONGEST_NAME)[:LONGEST_TYPE])


def _add(made: Graphing, triple: Triple) -> None:
    kind, source, target = _relation_type(triple), _id(triple.subject), _id(triple.object)
    if kind in TYPED:
        made.mentions.append(_mention(made, triple.subject))
        return
    if source == target:
        made.reflexive += 1
        return
    if kind in ALIAS_OF or kind in HAS_ALIAS:
        alias, name = (triple.subject, triple.object) if kind in ALIAS_OF else (triple.object, triple.subject)
        made.mentions.append(_mention(made, name))
        made.aliases.setdefault((_id(alias), _id(name)), _alias(made, alias, name))
        return
    made.mentions.extend((_mention(made, triple.subject), _mention(made, triple.object)))
    if (source, target, kind) in made.relations:
        made.repeated += 1
        return
    made.relations[source, target, kind] = RelationEvidence(
        source_id=source,
        target_id=target,
        relation_type=kind,
        weight=CO_OCCURRENCE_WEIGHT if kind == "CO_OCCURS" else STATED_WEIGHT,
        confidence=triple.confidence,
        chunk_id=made.place,
        start=0,
        end=0,
        method=METHOD,
        phrase=triple.predicate,
    )


def _mention(made: Graphing, name: str) -> Mention:
    key = name_key(name)
    found = entity_id(key)
    return Mention(
        entity_id=found,
        name_key=key,
        surface=name,
        entity_type=made.types.get(found, UNKNOWN_TYPE),
        chunk_id=made.place,
        start=0,
        end=0,
        origin=METHOD,
    )


def _alias(made: Graphing, alias: str, name: str) -> Alias:
    return Alias(
        alias_id=_id(alias),
        alias_key=name_key(alias),
        alias=alias,
        target_id=_id(name),
        target_key=name_key(name),
        target=name,
        chunk_id=made.place,
        start=0,
        end=0,
        method=METHOD,
    )


def _notes(made: Graphing) -> Iterator[str]:
    if made.repeated:
        yield f"{made.repeated} triples say again what another one says"
    if made.reflexive:
        yield f"{made.reflexive} triples relate a name with itself, in another spelling or the same, and were left out"


def _id(name: str) -> str:
    return entity_id(name_key(name))


def _relation_type(triple: Triple) -> str:
    return upper_snake(triple.predicate, "predicate", LONGEST_PREDICATE)
