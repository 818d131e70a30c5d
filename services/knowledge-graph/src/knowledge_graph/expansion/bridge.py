"""Bridges, without IO: from chunks with a name of the question, over other names they mention, to chunks about those.

The graph has the structure used by HippoRAG and LinearRAG (entities, passages, mentions, no chat model). Instead of a
personalised PageRank, the best single path decides; it scored better where we measured both. Every weight is between 0
and 1, and the more chunks share what leads to them, the lower it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias
from uuid import UUID

from knowledge_graph.expansion.places import NAMED_IN, NAMESAKE, SURE, SURE_ABOUT, Place, Places, spread

TITLED = 0.3
"""Weight of a chunk whose document's title contains a name of the question, relative to one about the name."""
STATED = 1.25
"""Factor for a mention whose seed states what the question asks."""
MENTIONED = 0.2
"""Weight of a chunk that mentions a rare name of the question, relative to one about it."""
ONWARD, MOST_ONWARD = 0.4, 4
"""Share of a bridge's gain that continues in the next one, and how many of the best ends are continued."""
IN_A_STATEMENT = 0.5
"""Weight of a chunk about a name if the text is a statement, not a question."""
NEAR = 0.8
"""Weight of a seed that mentions a name of the question, relative to one about it."""

Pair: TypeAlias = tuple[str, str, str]
"""Ids of two entities, and of the chunk that may state a relation between them."""


class Mentioned(NamedTuple):
    """A mention in a seed, with the characters of its sentence; in the workspace the entity has so many mentions, in so
    many documents.
    """

    chunk_id: str
    document_id: UUID
    entity_id: str
    about: str | None
    sentence_start: int
    sentence_end: int
    name: str
    entity_type: str
    mentions: int
    documents: int = 1

    @property
    def place(self) -> Place:
        return self.document_id, self.chunk_id

    @property
    def is_surely_about(self) -> bool:
        """Returns whether the chunk is about the entity, and does not merely have it as its first subject."""
        return SURE_ABOUT.get(self.about or "", 0.0) >= SURE

    @property
    def leads_on(self) -> bool:
        """Returns whether another chunk can be about the entity, by the same name or by a part of it."""
        return self.mentions > 1 or " " in self.name


@dataclass(frozen=True)
class QuestionName:
    """A name of the question; `share` is the probability that it means this entity."""

    entity_id: str
    name: str
    mentions: int
    share: float


class Lifted(NamedTuple):
    """A chunk with a name of the question: its score, and how certainly it is about `name`."""

    place: Place
    score: float
    about: float
    entity_id: str
    name: str


@dataclass(frozen=True)
class Start:
    """A mention that a bridge begins with, and the weight so far. The bridge comes from a name of the question, or
    continues the bridge `before`."""

    weight: float
    question_name: QuestionName
    mention: Mentioned
    before: Start | None = None

    @property
    def source(self) -> tuple[str, str]:
        """The (id, name) of the entity that leads to the mentioned one."""
        if self.before is not None:
            return self.before.mention.entity_id, self.before.mention.name
        return self.question_name.entity_id, self.question_name.name

    @property
    def pair(self) -> Pair:
        return self.source[0], self.mention.entity_id, self.mention.chunk_id

    @property
    def way(self) -> list[Start]:
        """The steps from the name of the question up to this one."""
        return [*(self.before.way if self.before else []), self]


@dataclass(frozen=True)
class Bridged:
    place: Place
    gain: float
    start: Start


def lifted(question_names: Sequence[QuestionName], places: Places, *, is_question: bool = True) -> list[Lifted]:
    """Scores the chunks that are about or mention a name of the question, best first; rare names score higher.

    A statement itself names its subject, so chunks that merely mention it add nothing: unless `is_question`, only
    chunks under a title or file name that is the name count.
    """
    scores: dict[Place, float] = defaultdict(float)
    best: dict[Place, tuple[float, float, QuestionName]] = {}
    for one in question_names:
        rarity = one.share * places.rarity(one.entity_id, one.mentions)
        about = _about(one, places, is_question)
        mentioned = MENTIONED * rarity if is_question else 0.0
        named = places.chunks_with(one.entity_id, NAMED_IN) if is_question else set()
        titled = spread(dict.fromkeys(places.titled.get(one.entity_id, ()), TITLED)) if is_question else {}
        surely = spread(about)
        for place in named | about.keys() | titled.keys():
            sure = about.get(place, 0.0)
            gain = (mentioned if place in named or sure else 0.0) + rarity**2 * (
                surely.get(place, 0.0) + titled.get(place, 0.0)
            )
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
    question_names: Sequence[QuestionName],
    places: Places,
    *,
    is_question: bool = True,
) -> list[Start]:
    """Returns the best way to every other name that a seed mentions, best first.

    `seeds` are scores from 0 to 1; `places` are the places of the question's names. Seeds without a rare name of the
    question lead nowhere, so ordinary searches are not changed.
    """
    names = {one.entity_id: one for one in question_names}
    by_place: dict[Place, list[Mentioned]] = defaultdict(list)
    for mention in mentions:
        by_place[mention.place].append(mention)
    best: dict[str, Start] = {}
    for place, named in by_place.items():
        sure, name = max((_anchor(one, place, places, is_question), one.entity_id) for one in question_names)
        weight = sure * seeds.get(place, 0.0)
        if weight <= 0:
            continue
        about_it = {one.entity_id for one in named if (one.is_surely_about if is_question else one.about is not None)}
        for one in named:
            if one.entity_id in names or one.entity_id in about_it or not one.leads_on:
                continue
            if one.entity_id not in best or weight > best[one.entity_id].weight:
                best[one.entity_id] = Start(weight, names[name], one)
    return sorted(best.values(), key=lambda one: (-one.weight, one.mention.entity_id))


def _anchor(one: QuestionName, place: Place, places: Places, is_question: bool) -> float:
    """Rates how good a start the chunk is for bridges from this name."""
    rarity = places.rarity(one.entity_id, one.mentions)
    sure = _about(one, places, is_question).get(place, 0.0) * rarity**2
    if is_question and place in places.chunks_with(one.entity_id, NAMED_IN):
        sure = max(sure, NEAR * rarity**4)
    return one.share * sure


def _about(one: QuestionName, places: Places, is_question: bool) -> Mapping[Place, float]:
    about = places.chunks_about(one.entity_id)
    return about if is_question else {place: IN_A_STATEMENT * sure for place, sure in about.items() if sure >= NAMESAKE}


def pairs_with(begun: Iterable[Start], mentions: Iterable[Mentioned]) -> dict[Pair, str]:
    """Pairs each mention that begins a bridge with its source and its chunk's subjects; returns its id by pair."""
    about: dict[Place, set[str]] = defaultdict(set)
    for mention in mentions:
        if mention.is_surely_about:
            about[mention.place].add(mention.entity_id)
    found: dict[Pair, str] = {}
    for one in begun:
        target, chunk = one.mention.entity_id, one.mention.chunk_id
        found |= {(source, target, chunk): target for source in (one.source[0], *sorted(about[one.mention.place]))}
    return found


def favoured(begun: Iterable[Start], stated: Collection[str]) -> list[Start]:
    """Raises the weight of mentions whose seed states what is asked (`stated`: their entity ids); best first."""
    raised = [replace(one, weight=STATED * one.weight) if one.mention.entity_id in stated else one for one in begun]
    return sorted(raised, key=lambda one: (-one.weight, one.mention.entity_id))


def onward(ends: Sequence[Bridged], mentions: Iterable[Mentioned], known: Collection[str]) -> list[Start]:
    """Continues the best bridges over the names mentioned where they end, best first.

    `known` are the entities that earlier bridges led over.
    """
    by_place = {end.place: end for end in ends}
    best: dict[str, Start] = {}
    named = list(mentions)
    about_it = {(one.place, one.entity_id) for one in named if one.is_surely_about}
    for one in named:
        end = by_place[one.place]
        if one.entity_id in known or (one.place, one.entity_id) in about_it or not one.leads_on:
            continue
        weight = ONWARD * end.gain
        if one.entity_id not in best or weight > best[one.entity_id].weight:
            best[one.entity_id] = Start(weight, end.start.question_name, one, end.start)
    return sorted(best.values(), key=lambda one: (-one.weight, one.mention.entity_id))


def bridged(found: Iterable[Start], places: Places) -> list[Bridged]:
    """Returns the chunks where the bridges end, each with its best path, best first."""
    best: dict[Place, Bridged] = {}
    for start in found:
        if not _is_followed(start, places):
            continue
        for place, share in places.ends(start.mention.entity_id).items():
            gain = start.weight * share
            if place != start.mention.place and (place not in best or gain > best[place].gain):
                best[place] = Bridged(place, gain, start)
    return sorted(best.values(), key=_best_first)


def _is_followed(start: Start, places: Places) -> bool:
    return start.mention.entity_type != "CONCEPT" or start.mention.entity_id in places.defined


def least_gain(ends: Sequence[Bridged], most: int) -> float:
    """Returns the gain without which no further end is among the best `most`."""
    return ends[most - 1].gain if len(ends) >= most else 0.0


def worth_reading(begun: Iterable[Start], places: Places, least: float) -> set[str]:
    """Returns the entities whose mere mentions may be ends with a gain of at least `least`; of the others, `places` has
    the chunks about them already.
    """
    found = set()
    for start in begun:
        one = start.mention
        gain = start.weight * places.most_by_mention(one.mentions, one.documents)
        if gain > 0 and gain >= least and _is_followed(start, places):
            found.add(one.entity_id)
    return found


def joined(*found: Sequence[Bridged]) -> list[Bridged]:
    """Merges lists of ends; each chunk keeps its best path, best first."""
    best: dict[Place, Bridged] = {}
    for one in (each for ends in found for each in ends):
        if one.place not in best or one.gain > best[one.place].gain:
            best[one.place] = one
    return sorted(best.values(), key=_best_first)


def _best_first(one: Bridged) -> tuple[float, Place]:
    return -one.gain, one.place
