"""Bridges, without IO: from chunks with a name of the question, over what else they mention, to the chunks about that.

The shape of the graph is that of HippoRAG and LinearRAG (entities, passages, mentions, no chat model); in place of a
personalised PageRank the single best path decides, which did better where it was measured. Every weight lies between 0
and 1, and is lower the more chunks share what leads to them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID

SURE_ABOUT = {"title": 1.0, "name": 1.0, "heading": 0.95, "definition": 0.95, "subject": 0.4}
"""How surely a chunk is about a name, by what says so."""
MENTIONED = 0.2
"""What a mention of a rare name of the question is worth beside a chunk about it."""
VIA_MENTION = 1.0
"""A chunk that mentions the entity, beside one that is about it."""
ONWARD, MOST_ONWARD = 0.4, 4
"""What of a bridge's gain is left for the next one, and from how many of the best ends such begin."""
NEAR = 0.8
"""A seed that mentions a name of the question, beside one that is about it."""
SURE = 0.5
"""What is less surely about a name, or only mentions it, counts for questions alone."""
MOST_ABOUT, MOST_CHUNKS = 50, 100
MOST_MENTIONS = 4 * MOST_CHUNKS
"""The mentions of an entity that has more are not read at all."""
NAMED_IN, FOLLOWED_IN = 0.003, 0.02
"""Parts of the workspace's chunks: in more of them a name of the question says nothing about a chunk, another is not
followed. The former is what keeps ordinary questions, whose names stand in many chunks, as they are."""
FEW = 5
SMALL = 10
"""So many chunks are added to a workspace's, so that names count for something in the smallest too."""

Place: TypeAlias = tuple[UUID, str]
"""(document, chunk id)."""


@dataclass(frozen=True)
class Where:
    """An entity in a chunk; `about` says why the chunk is about it, None for a mere mention."""

    entity_id: str
    chunk_id: str
    document_id: UUID
    about: str | None

    @property
    def place(self) -> Place:
        return self.document_id, self.chunk_id


@dataclass(frozen=True)
class Mentioned:
    """A mention in a seed: characters of its sentence, and how often the workspace mentions the entity."""

    chunk_id: str
    document_id: UUID
    entity_id: str
    about: str | None
    sentence_start: int
    sentence_end: int
    name: str
    mentions: int

    @property
    def place(self) -> Place:
        return self.document_id, self.chunk_id


@dataclass(frozen=True)
class Asked:
    """A name of the question; `share`: how likely it means this entity."""

    entity_id: str
    name: str
    mentions: int
    share: float


@dataclass(frozen=True)
class Lifted:
    """A chunk with a name of the question: what it gains, and how surely it is about `name`."""

    place: Place
    score: float
    about: float
    entity_id: str
    name: str


@dataclass(frozen=True)
class Start:
    """A mention that a bridge begins with, and the weight so far. It comes from the name of the question, or from what
    the bridge `before` it led over."""

    weight: float
    asked: Asked
    mention: Mentioned
    before: Start | None = None

    @property
    def source(self) -> tuple[str, str]:
        """(id, name) of the entity that leads to the mentioned one."""
        if self.before is not None:
            return self.before.mention.entity_id, self.before.mention.name
        return self.asked.entity_id, self.asked.name

    @property
    def way(self) -> list[Start]:
        """From the name of the question on."""
        return [*(self.before.way if self.before else []), self]


@dataclass(frozen=True)
class Bridged:
    place: Place
    gain: float
    start: Start


class Places:
    """Where entities are: the chunks about each, and those that mention it, where they are few enough to matter."""

    def __init__(self, rows: Iterable[Where], chunks: int) -> None:
        self.chunks = chunks + SMALL
        self.about: dict[str, dict[Place, float]] = defaultdict(dict)
        self.mentioning: dict[str, set[Place]] = defaultdict(set)
        for row in rows:
            if row.about is None:
                self.mentioning[row.entity_id].add(row.place)
            else:
                about = self.about[row.entity_id]
                about[row.place] = max(about.get(row.place, 0.0), SURE_ABOUT.get(row.about, 0.0))
        for entity, places in self.about.items():
            self.mentioning[entity] |= places.keys()

    def chunks_about(self, entity_id: str) -> Mapping[Place, float]:
        """None where too many are."""
        found = self.about.get(entity_id, {})
        return found if len(found) <= MOST_ABOUT else {}

    def chunks_with(self, entity_id: str, part: float) -> set[Place]:
        """All that name it, unless it is in more than this part of the workspace."""
        found = self.mentioning.get(entity_id, set())
        return found if len(found) <= min(MOST_CHUNKS, max(FEW, part * self.chunks)) else set()

    def rarity(self, entity_id: str, mentions: int) -> float:
        """1 for what one chunk has, 0 for what all have; by the number of mentions where they were not read."""
        having = mentions if mentions > MOST_MENTIONS else len(self.mentioning.get(entity_id, ()))
        return max(0.0, math.log(self.chunks / max(1, having)) / math.log(self.chunks))


def lifted(asked: Sequence[Asked], places: Places, *, is_question: bool = True) -> list[Lifted]:
    """The chunks about the names of the question, or with one, best first: rare names lift more.

    A statement names what it is about, so that what merely mentions that has nothing to add to it: without
    `is_question` only chunks that are surely about a name count.
    """
    scores: dict[Place, float] = defaultdict(float)
    best: dict[Place, tuple[float, float, Asked]] = {}
    for one in asked:
        rarity = one.share * places.rarity(one.entity_id, one.mentions)
        about = _about(one, places, is_question)
        mentioned = MENTIONED * rarity if is_question else 0.0
        for place in (places.chunks_with(one.entity_id, NAMED_IN) if is_question else set()) | about.keys():
            sure = about.get(place, 0.0)
            gain = mentioned + (sure * rarity**2 / math.sqrt(len(about)) if sure else 0.0)
            scores[place] += gain
            if place not in best or gain > best[place][1]:
                best[place] = sure * one.share, gain, one
    found = [
        Lifted(place, min(1.0, score), best[place][0], best[place][2].entity_id, best[place][2].name)
        for place, score in scores.items()
    ]
    return sorted(found, key=lambda one: (-one.score, one.place))


def starts(
    seeds: Mapping[Place, float],
    mentions: Iterable[Mentioned],
    asked: Sequence[Asked],
    places: Places,
    *,
    is_question: bool = True,
) -> list[Start]:
    """Of every other name that a seed mentions the best way to it, best first. `seeds`: scores from 0 to 1; `places`
    are those of the names of the question.

    A seed without a rare name of the question leads nowhere: ordinary searches stay as they are.
    """
    names = {one.entity_id: one for one in asked}
    by_place: dict[Place, list[Mentioned]] = defaultdict(list)
    for mention in mentions:
        by_place[mention.place].append(mention)
    best: dict[str, Start] = {}
    for place, named in by_place.items():
        sure, name = max((_anchor(one, place, places, is_question), one.entity_id) for one in asked)
        weight = sure * seeds.get(place, 0.0)
        if weight <= 0:
            continue
        about_it = {one.entity_id for one in named if one.about is not None}
        for one in named:
            if one.entity_id in names or one.entity_id in about_it or one.mentions < 2:
                continue
            if one.entity_id not in best or weight > best[one.entity_id].weight:
                best[one.entity_id] = Start(weight, names[name], one)
    return sorted(best.values(), key=lambda one: (-one.weight, one.mention.entity_id))


def _anchor(one: Asked, place: Place, places: Places, is_question: bool) -> float:
    """How surely the chunk is one to start from for this name."""
    rarity = places.rarity(one.entity_id, one.mentions)
    sure = _about(one, places, is_question).get(place, 0.0) * rarity**2
    if is_question and place in places.chunks_with(one.entity_id, NAMED_IN):
        sure = max(sure, NEAR * rarity**4)
    return one.share * sure


def _about(one: Asked, places: Places, is_question: bool) -> Mapping[Place, float]:
    about = places.chunks_about(one.entity_id)
    return about if is_question else {place: sure for place, sure in about.items() if sure >= SURE}


def onward(ends: Sequence[Bridged], mentions: Iterable[Mentioned], known: Collection[str]) -> list[Start]:
    """From where the best bridges end over what is mentioned there, best first. `known`: what they led over before."""
    by_place = {end.place: end for end in ends}
    best: dict[str, Start] = {}
    named = list(mentions)
    about_it = {(one.place, one.entity_id) for one in named if one.about is not None}
    for one in named:
        end = by_place[one.place]
        if one.entity_id in known or (one.place, one.entity_id) in about_it or one.mentions < 2:
            continue
        weight = ONWARD * end.gain
        if one.entity_id not in best or weight > best[one.entity_id].weight:
            best[one.entity_id] = Start(weight, end.start.asked, one, end.start)
    return sorted(best.values(), key=lambda one: (-one.weight, one.mention.entity_id))


def bridged(found: Iterable[Start], places: Places) -> list[Bridged]:
    """Where the bridges end, each chunk with its best path, best first."""
    best: dict[Place, Bridged] = {}
    for start in found:
        entity = start.mention.entity_id
        about = places.chunks_about(entity)
        mentioning = places.chunks_with(entity, FOLLOWED_IN)
        ends = dict.fromkeys(mentioning, VIA_MENTION / math.sqrt(max(1, len(mentioning))))
        ends |= {place: sure / math.sqrt(len(about)) for place, sure in about.items()}
        for place, share in ends.items():
            gain = start.weight * share
            if place != start.mention.place and (place not in best or gain > best[place].gain):
                best[place] = Bridged(place, gain, start)
    return sorted(best.values(), key=_best_first)


def joined(*found: Sequence[Bridged]) -> list[Bridged]:
    """Each chunk with its best path, best first."""
    best: dict[Place, Bridged] = {}
    for one in (each for ends in found for each in ends):
        if one.place not in best or one.gain > best[one.place].gain:
            best[one.place] = one
    return sorted(best.values(), key=_best_first)


def _best_first(one: Bridged) -> tuple[float, Place]:
    return -one.gain, one.place
