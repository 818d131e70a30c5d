"""Places of entities: the chunks about each, and those that mention it if they are few enough to matter."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias
from uuid import UUID

SURE_ABOUT = {"title": 1.0, "name": 1.0, "heading": 0.95, "definition": 0.95, "subject": 0.6}
"""Certainty that a chunk is about a name, by the reason."""
SURE = 0.9
"""From this certainty on, a chunk counts as being about the name."""
NAMESAKE = 1.0
"""Certainty that names in a statement require, that is, a title or file name: most of them are not its subject."""
DEFINING = frozenset({"title", "name", "definition"})
"""Reasons that define a concept. A heading ("Date") does not: it may just be words that several chunks share."""
VIA_MENTION = 1.0
"""Weight of a chunk that mentions the entity, relative to one about it."""
TITLED_ONWARD = 0.6
"""Weight of a chunk whose document's title contains the name ("History of Mississippi"), relative to one about it."""
BY_PART = 0.8
"""Weight of a chunk about a part of the name ("King Mongkut"), used if no chunk is about the whole name."""
MOST_ABOUT, MOST_CHUNKS = 50, 100
MOST_MENTIONS = 4 * MOST_CHUNKS
"""If an entity has more mentions than this, none are read."""
NAMED_IN, FOLLOWED_IN = 0.003, 0.02
"""Shares of the workspace's chunks. A name of the question in more chunks than the first says nothing about a chunk;
any other name in more than the second is not followed. The first keeps ordinary questions, whose names are in many
chunks, unchanged."""
FEW = 5
SMALL = 10
"""Added to the workspace's number of chunks, so that names count for something even in the smallest."""

Place: TypeAlias = tuple[UUID, str]
"""(document, chunk id)."""


class Where(NamedTuple):
    """An entity in a chunk; `about` is the reason why the chunk is about it, None for a mere mention. `titled`: the
    document's title contains the name."""

    entity_id: str
    chunk_id: str
    document_id: UUID
    about: str | None
    titled: bool = False

    @property
    def place(self) -> Place:
        return self.document_id, self.chunk_id


class Places:
    """The places of entities: the chunks about each, and those that mention it if they are few enough to matter."""

    def __init__(self, rows: Iterable[Where], chunks: int) -> None:
        self.chunks = chunks + SMALL
        self.about: dict[str, dict[Place, float]] = defaultdict(dict)
        self.mentioning: dict[str, set[Place]] = defaultdict(set)
        self.titled: dict[str, set[Place]] = defaultdict(set)
        self.by_part: dict[str, dict[Place, float]] = defaultdict(dict)
        self.defined: set[str] = set()
        read = list(rows)
        self.add(read, {row.entity_id for row in read})

    def add(self, rows: Iterable[Where], mentioned: Iterable[str]) -> None:
        """Adds chunks; of the entities `mentioned` these are, with those already known, all chunks."""
        for row in rows:
            if row.about in DEFINING:
                self.defined.add(row.entity_id)
            if row.about is not None:
                about = self.about[row.entity_id]
                about[row.place] = max(about.get(row.place, 0.0), SURE_ABOUT.get(row.about, 0.0))
                continue
            self.mentioning[row.entity_id].add(row.place)
            if row.titled:
                self.titled[row.entity_id].add(row.place)
        for entity in mentioned:
            self.mentioning[entity] |= self.about.get(entity, {}).keys()

    def chunks_about(self, entity_id: str) -> Mapping[Place, float]:
        """Returns the chunks about the entity; none if there are too many."""
        found = self.about.get(entity_id, {})
        return found if len(found) <= MOST_ABOUT else {}

    def chunks_with(self, entity_id: str, part: float) -> set[Place]:
        """Returns the chunks that name the entity; none if they are more than this share of the workspace."""
        found = self.mentioning.get(entity_id, set())
        return found if len(found) <= self._most(part) else set()

    def _most(self, part: float) -> float:
        return min(MOST_CHUNKS, max(FEW, part * self.chunks))

    def has_chunk_about(self, entity_id: str) -> bool:
        return any(sure >= SURE for sure in self.about.get(entity_id, {}).values())

    def add_part(self, entity_id: str, about: Iterable[Mapping[Place, float]]) -> None:
        """Adds chunks that are about what parts of the entity's name stand for, by part."""
        for one in about:
            for place, share in spread(one, BY_PART).items():
                known = self.by_part[entity_id]
                known[place] = max(known.get(place, 0.0), share)

    def ends(self, entity_id: str) -> Mapping[Place, float]:
        """Returns the chunks to which a bridge over the entity leads, with the share of its weight that each gets."""
        mentioning = self.chunks_with(entity_id, FOLLOWED_IN)
        ends = spread(dict.fromkeys(mentioning, VIA_MENTION)) | spread(self.chunks_about(entity_id))
        titled = spread(dict.fromkeys(self.titled.get(entity_id, ()), TITLED_ONWARD))
        for place, share in (*titled.items(), *self.by_part.get(entity_id, {}).items()):
            ends[place] = max(ends.get(place, 0.0), share)
        return ends

    def most_by_mention(self, mentions: int, documents: int) -> float:
        """Returns the largest share of a chunk in `ends` that only mentions the entity. At least as many chunks as
        documents mention it, and only titles of rare entities are compared.
        """
        titled = TITLED_ONWARD if mentions <= MOST_CHUNKS else 0.0
        return max(titled, VIA_MENTION / math.sqrt(max(1, documents)) if documents <= self._most(FOLLOWED_IN) else 0.0)

    def rarity(self, entity_id: str, mentions: int) -> float:
        """Returns 1 if one chunk has it, down to 0 if all have; by the number of mentions if they were not read."""
        having = mentions if mentions > MOST_MENTIONS else len(self.mentioning.get(entity_id, ()))
        return max(0.0, math.log(self.chunks / max(1, having)) / math.log(self.chunks))


def spread(places: Mapping[Place, float], part: float = 1.0) -> dict[Place, float]:
    """Divides the weight among the chunks: the more there are, the less each gets."""
    return {place: part * sure / math.sqrt(len(places)) for place, sure in places.items()}
