"""Joins the model's findings with what the rules found in the same document. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from knowledge_graph.extraction.names import entity_id, name_key
from knowledge_graph.extraction.records import Extraction, Mention, RelationEvidence, SourceChunk
from knowledge_graph.extraction.sentences import Sentences
from knowledge_graph.refinement.findings import Findings, occurrences

WEIGHT, CONFIDENCE = 2.0, 0.7
MOST_MENTIONS = 20
MODEL = "model"
LEAST_COVERED = 0.6


def join(extraction: Extraction, chunks: Sequence[SourceChunk], found: Mapping[str, Findings]) -> Extraction:
    """Returns the extraction joined with the findings, which are by chunk id.

    Where the rules have a mention, a name of the model is that mention's entity; a name that the rules know from
    elsewhere in the document is resolved as they resolved it. Relations that both state count once.
    """
    if not found:
        return extraction
    resolved = _resolutions(extraction.mentions)
    by_chunk: dict[str, list[Mention]] = {}
    for mention in extraction.mentions:
        by_chunk.setdefault(mention.chunk_id, []).append(mention)
    stated = {_triple(one) for one in extraction.relations}
    mentions, relations = list(extraction.mentions), list(extraction.relations)
    covered: dict[str, list[tuple[int, int]]] = {}
    for chunk in chunks:
        if chunk.chunk_id not in found:
            continue
        joined = _Joined(chunk, found[chunk.chunk_id], by_chunk.get(chunk.chunk_id, []), resolved)
        new = list(joined.mentions())
        mentions += new
        covered[chunk.chunk_id] = [(one.start, one.end) for one in new]
        for relation in joined.relations():
            if _triple(relation) not in stated:
                stated.add(_triple(relation))
                relations.append(relation)
    candidates = [
        one
        for one in extraction.candidates
        if not any(start <= one.start and one.end <= end for start, end in covered.get(one.chunk_id, ()))
    ]
    method = f"{extraction.method}+{MODEL}"
    return replace(extraction, method=method, mentions=mentions, relations=relations, candidates=candidates)


@dataclass(frozen=True)
class _Entity:
    id: str
    key: str


class _Joined:
    """The joined findings of one chunk."""

    def __init__(
        self, chunk: SourceChunk, found: Findings, own: Sequence[Mention], resolved: Mapping[str, _Entity]
    ) -> None:
        self.chunk, self.found = chunk, found
        self.placed = [one for one in own if one.end > one.start]
        self.places = {name: occurrences(chunk.content, name)[:MOST_MENTIONS] for name in found.names}
        self.entities = {name: self._entity(name, resolved) for name in found.names}

    def mentions(self) -> Iterator[Mention]:
        """Yields mentions where the rules have none; longer names first, so that mentions do not overlap."""
        taken = [(one.start, one.end) for one in self.placed]
        present = {one.entity_id for one in self.placed}
        bounds = Sentences(self.chunk.content)
        for name in sorted(self.found.names, key=lambda name: (-len(name), name)):
            entity = self.entities[name]
            free = [one for one in self.places[name] if not any(_overlap(one, other) for other in taken)]
            if not free and entity.id not in present:
                free = self.places[name][:1]  # lies inside another name, but is still the place that names it
            for place in free:
                taken.append(place)
                present.add(entity.id)
                yield self._mention(name, entity, place, bounds)

    def relations(self) -> Iterator[RelationEvidence]:
        for one in self.found.relations:
            source, target = self.entities[one.source], self.entities[one.target]
            if source.id != target.id:
                yield RelationEvidence(
                    source_id=source.id,
                    target_id=target.id,
                    relation_type=one.relation_type,
                    weight=WEIGHT,
                    confidence=CONFIDENCE,
                    chunk_id=self.chunk.chunk_id,
                    start=one.start,
                    end=one.end,
                    method=MODEL,
                )

    def _entity(self, name: str, resolved: Mapping[str, _Entity]) -> _Entity:
        overlapping = [
            (one.end - one.start, one)
            for one in self.placed
            if any(_overlap((one.start, one.end), place) for place in self.places[name])
        ]
        if overlapping:
            length, longest = max(overlapping, key=lambda pair: (pair[0], -pair[1].start))
            if LEAST_COVERED <= length / len(name) <= 1 / LEAST_COVERED:
                return _Entity(longest.entity_id, longest.name_key)
        key = name_key(name)
        return resolved.get(key) or _Entity(entity_id(key), key)

    def _mention(self, name: str, entity: _Entity, place: tuple[int, int], bounds: Sentences) -> Mention:
        start, end = place
        within = bounds.at(start)
        return Mention(
            entity_id=entity.id,
            name_key=entity.key,
            surface=self.chunk.content[start:end],
            entity_type=self.found.names[name],
            chunk_id=self.chunk.chunk_id,
            start=start,
            end=end,
            sentence_start=within[0],
            sentence_end=within[1],
            origin=MODEL,
        )


def _resolutions(mentions: Sequence[Mention]) -> dict[str, _Entity]:
    """Returns the entity of each spelling that has only one meaning in the document."""
    meanings: dict[str, set[_Entity]] = {}
    for mention in mentions:
        entity = _Entity(mention.entity_id, mention.name_key)
        meanings.setdefault(name_key(mention.surface), set()).add(entity)
    return {key: next(iter(found)) for key, found in meanings.items() if len(found) == 1}


def _triple(one: RelationEvidence) -> tuple[str, str, str, str]:
    return one.source_id, one.relation_type, one.target_id, one.chunk_id


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]
