"""From clauses to relations between names: pronouns and "the film" stand for the name that the text spoke of last."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from knowledge_graph.extraction.clauses import IDENTITY, Clause
from knowledge_graph.extraction.records import Mention

EXPLICIT, REFERRED = 0.7, 0.5
LONGEST_TYPE = 48
PEOPLE = frozenset({"he", "she", "who", "him", "her"})
THINGS = frozenset({"it", "which", "that"})
CLOSED = {
    "DEPEND_ON": ("DEPENDS_ON", False),
    "DEPEND_UPON": ("DEPENDS_ON", False),
    "RELY_ON": ("DEPENDS_ON", False),
    "RELY_UPON": ("DEPENDS_ON", False),
    "REQUIRE": ("DEPENDS_ON", False),
    "USE": ("USES", False),
    "UTILIZE": ("USES", False),
    "INVOKE": ("CALLS", False),
    "OWN": ("OWNS", False),
    "MAINTAIN": ("MAINTAINS", False),
    "PART_OF": ("PART_OF", False),
    "MEMBER_OF": ("PART_OF", False),
    "BELONG_TO": ("PART_OF", False),
    "CONTAIN": ("PART_OF", True),
    "INCLUDE": ("PART_OF", True),
    "COMPRISE": ("PART_OF", True),
    "CONSIST_OF": ("PART_OF", True),
}
"""What has a name of its own in the graph; True turns it round."""


@dataclass(frozen=True)
class Triple:
    """`source` and `target` are mentions; the source may be one of an earlier chunk that a pronoun stands for."""

    source: Mention
    target: Mention
    relation_type: str
    phrase: str
    confidence: float
    place: int
    """A character of the sentence that says it."""


@dataclass
class Reference:
    """What the text spoke of last, from the beginning of a document to where it is read."""

    person: Mention | None = None
    thing: Mention | None = None
    nouns: dict[str, Mention] = field(default_factory=dict)
    """By the noun that was said of it: "film" in "Tropic of Cancer is a film"."""

    def remember(self, subject: Mention) -> None:
        if subject.entity_type == "PERSON":
            self.person = subject
        else:
            self.thing = subject

    def of(self, word: str) -> Mention | None:
        if word in PEOPLE:
            return self.person
        return self.thing if word in THINGS else self.nouns.get(word)


def triples(clauses: Sequence[Clause], mentions: Sequence[Mention], spoken_of: Reference) -> Iterator[Triple]:
    """`mentions` are those of one text, by place; `spoken_of` is read and brought up to date."""
    starts = [mention.start for mention in mentions]

    def at(place: int) -> Mention | None:
        found = bisect_right(starts, place) - 1
        return mentions[found] if found >= 0 and place < mentions[found].end else None

    for clause in clauses:
        named, target = at(clause.subject), at(clause.target)
        if clause.relation == IDENTITY:
            source = named or spoken_of.of(clause.reference)
            if source is not None and target is None:
                spoken_of.nouns[clause.phrase] = source
            if named is not None:
                spoken_of.remember(named)
            continue
        source = named or spoken_of.of(clause.reference)
        if named is not None and not clause.turned:
            spoken_of.remember(named)
        if clause.turned and target is None:
            target = spoken_of.of(clause.object_reference)
        if source is None or target is None or source.entity_id == target.entity_id:
            continue
        relation_type, reverse = CLOSED.get(clause.relation, (clause.relation, False))
        if not re.fullmatch(r"[^\W\d]\w*", relation_type) or len(relation_type) > LONGEST_TYPE:
            continue
        ends = (target, source) if reverse else (source, target)
        is_explicit = named is not None and at(clause.target) is not None
        yield Triple(*ends, relation_type, clause.phrase, EXPLICIT if is_explicit else REFERRED, clause.subject)
