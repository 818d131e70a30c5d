"""Converts a correction to the rows of a document: mentions, a relation, an alias. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from contracts.graph_corrections import OF_FACTS, CorrectionRequest
from knowledge_graph.extraction.names import entity_id, name_key
from knowledge_graph.extraction.records import Alias, Extraction, Mention, RelationEvidence

DOCUMENT_METHOD, ORIGIN = "user", "user"
METHOD, SPLIT = "correction", "split"
STATED_WEIGHT = 2.0


@dataclass(frozen=True)
class NamedEnd:
    """A name that a correction is about, as the graph writes it; `entity_type` is "" if the graph already knows it."""

    id: str
    key: str
    name: str
    entity_type: str = ""

    @classmethod
    def new(cls, name: str) -> NamedEnd:
        key = name_key(name)
        return cls(entity_id(key), key, name, "ENTITY")


def graphed(correction_id: UUID, request: CorrectionRequest, entity: NamedEnd, other: NamedEnd | None) -> Extraction:
    """Returns the rows that the correction states; the same correction always gives the same rows."""
    place = f"import:{correction_id.hex}"  # not a chunk's id, as with triples that users import
    made = Extraction(DOCUMENT_METHOD)
    if request.kind == "type":
        typed = NamedEnd(entity.id, entity.key, entity.name, request.entity_type or "")
        made.mentions.append(_mention(typed, place))
    elif other is not None and request.kind in OF_FACTS:
        made.mentions.extend((_mention(entity, place), _mention(other, place)))
        made.relations.append(_relation(request, entity, other, place))
    elif other is not None:
        method = METHOD if request.kind == "merge" else SPLIT
        ends = (entity.id, entity.key, entity.name, other.id, other.key, other.name)
        made.aliases.append(Alias(*ends, place, 0, 0, method))
    return made


def _mention(end: NamedEnd, place: str) -> Mention:
    return Mention(end.id, end.key, end.name, end.entity_type, place, 0, 0, origin=ORIGIN)


def _relation(request: CorrectionRequest, entity: NamedEnd, other: NamedEnd, place: str) -> RelationEvidence:
    status = "negated" if request.kind == "reject" else request.status
    stated = (entity.id, other.id, request.relation_type or "", STATED_WEIGHT, 1.0, place, 0, 0, METHOD, request.reason)
    return RelationEvidence(*stated, status, request.dated)
