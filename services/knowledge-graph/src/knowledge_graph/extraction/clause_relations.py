"""Converts clauses to relations between names: pronouns and "the film" stand for the last name the text spoke of."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from knowledge_graph.extraction.clauses import IDENTITY, SECTION, SPOKEN_OF, Clause
from knowledge_graph.extraction.full_names import EVIDENT
from knowledge_graph.extraction.names import PARTS
from knowledge_graph.extraction.records import Mention
from knowledge_graph.extraction.relation_types import BELONGS_TO, VERBS
from knowledge_graph.extraction.tenses import CURRENT, NEGATED, PAST, PERFECT, PRETERITE

EXPLICIT, REFERRED = 0.7, 0.5
LONGEST_TYPE = 48
NO_PARTS = frozenset({"PERSON", "TEAM", "PLACE", "GPE", "LOC", "FAC", "NORP", "DOCUMENT_ID"})
PEOPLE = frozenset({"he", "she", "who", "him", "her"})
THINGS = frozenset({"it", "which", "that"})
SEVERAL = frozenset({"system", "server", "api", "component", "backend", "frontend", "proxy"})
SELVES = frozenset(word for word, kind in PARTS.items() if kind in {"SERVICE", "PROJECT"}) - SEVERAL
"""Under the heading "Petrel", "the app" is Petrel, but "the server" may be another one."""
OWNERS = frozenset({"ORG", "GPE", "NORP"})
"""Types that the tagger gives to names of teams. A system cannot belong to anything else of these types."""
OWNING = frozenset({"OWN", "MAINTAIN", "OPERATE", "RUN"})
SERVING = frozenset({"BACK", "POWER", "FEED", "FILL", "SUPPLY", "POPULATE"})
"""Verbs that reverse a dependency: what is backed by something depends on it."""
LEAVING = frozenset({"MOVE_FROM", "MIGRATE_FROM", "SWITCH_FROM", "SWITCH_AWAY_FROM", "MOVE_AWAY_FROM", "MOVE_OFF"})
"""What a system has moved away from is what it used to depend on."""
WAYS = ("_THROUGH", "_VIA")
"""A system calls whatever part of a system it does something through."""
NO_RELATION = frozenset({"KNOWN_AS", "CALLED_AS", "REFER_AS"})
"""Verbs that introduce an alias, not a relation."""
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
    "COMPOSE_OF": ("PART_OF", True),
}
"""Relation types of the closed hierarchy, by verb; True reverses source and target."""


@dataclass(frozen=True)
class ClauseTriple:
    """A relation from a clause. `source` and `target` are mentions; a pronoun's source may be in an earlier chunk."""

    source: Mention
    target: Mention
    relation_type: str
    phrase: str
    confidence: float
    place: int
    """A position in the sentence that states it."""
    time: str = CURRENT


@dataclass
class Reference:
    """What pronouns refer to: the names last spoken of, from the beginning of the document to the current position."""

    person: Mention | None = None
    thing: Mention | None = None
    unsure: Mention | None = None
    """The last name of unknown type: it may be a person or a thing."""
    section: Mention | None = None
    """The part of a system that the nearest heading names."""
    named_by_item: Mention | None = None
    """The name in the previous list item, if that item is only a name."""
    nouns: dict[str, Mention] = field(default_factory=dict)
    """Names by the noun that described them: "film" after "Tropic of Cancer is a film"."""

    def begin(self, about: Mention | None) -> None:
        """Begins a section: pronouns no longer refer to names of the previous one."""
        self.person = self.unsure = None
        self.thing = self.section = about
        self.nouns.clear()

    def begin_item(self, alone: Mention | None) -> None:
        """Begins a list item; `alone` is the name if the item is nothing else, and the next item may be about it."""
        self.unsure = None
        self.thing = alone or self.named_by_item or self.section
        self.named_by_item = alone

    def remember(self, subject: Mention) -> None:
        if subject.entity_type == "PERSON":
            self.person, self.unsure = subject, None
            return
        if subject.entity_type == "TEAM" and self.thing is not None:
            return  # "The Heron team owns it. It uses …"
        self.thing = subject
        if subject.entity_type == "ENTITY":
            self.unsure = subject

    def of(self, word: str) -> Mention | None:
        if word in PEOPLE:
            return self.unsure or self.person
        if word in THINGS:
            return self.thing
        return self.nouns.get(word) or (self.section if word in SELVES and self._is_section_a(PARTS[word]) else None)

    def _is_section_a(self, kind: str) -> bool:
        """Returns whether the section's thing may be of this kind: under "Moving to JetStream" no library is "the
        service"."""
        return self.section is not None and (
            self.section.entity_type == kind or self.section.entity_type not in EVIDENT
        )


def triples(
    clauses: Sequence[Clause],
    mentions: Sequence[Mention],
    spoken_of: Reference,
    systems: Collection[str] = (),
    items: Sequence[tuple[int, Mention | None]] = (),
) -> Iterator[ClauseTriple]:
    """Yields the relations of the clauses of one text.

    `mentions` are in text order. `spoken_of` is read and updated. `systems` are entities that are parts of systems;
    between them verbs state what `relation_types.VERBS` says. `items` are the positions of list items: a pronoun in an
    item never refers to earlier items, except to one that is only a name.
    """
    starts = [mention.start for mention in mentions]

    def at(place: int) -> Mention | None:
        found = bisect_right(starts, place) - 1
        return mentions[found] if found >= 0 and place < mentions[found].end else None

    left = list(items)
    for clause in clauses:
        while left and left[0][0] <= clause.subject:
            spoken_of.begin_item(left.pop(0)[1])
        named, target = at(clause.subject), at(clause.target)
        if clause.reference == SECTION:
            yield from _of_section(clause, named, target, spoken_of, systems)
            continue
        if clause.relation in {IDENTITY, SPOKEN_OF}:
            _remember(clause, named, target, spoken_of)
        else:
            yield from _statement(clause, named, target, spoken_of, systems)


def _remember(clause: Clause, named: Mention | None, target: Mention | None, spoken_of: Reference) -> None:
    """Records what a later pronoun or noun can refer to."""
    source = named or spoken_of.of(clause.reference)
    if clause.relation == IDENTITY and source is not None and target is None:
        spoken_of.nouns[clause.phrase] = source
    # "It takes a provider, Corvid Pay. It …": under a heading, a name that only follows a noun is not what "It" means.
    is_beside = clause.relation == IDENTITY and clause.subject > clause.target and spoken_of.section is not None
    if named is not None and not is_beside:
        spoken_of.remember(named)


def _statement(
    clause: Clause, named: Mention | None, target: Mention | None, spoken_of: Reference, systems: Collection[str]
) -> Iterator[ClauseTriple]:
    source = named or spoken_of.of(clause.reference)
    before = spoken_of.of(clause.object_reference)
    if named is not None and not clause.turned:
        spoken_of.remember(target if clause.relation in OWNING and target is not None else named)
    is_explicit = named is not None and target is not None
    if target is None and (clause.turned or (clause.relation in OWNING and named is not None)):
        target = before  # "Before that Bookings owned it"
    if source is not None and target is not None and source.entity_id != target.entity_id:
        if source.entity_type == "PERSON" != target.entity_type and clause.time != NEGATED:
            spoken_of.remember(target)  # "She wrote X. It …"
        yield from _triple(clause, source, target, EXPLICIT if is_explicit else REFERRED, systems)


def _of_section(
    clause: Clause, named: Mention | None, target: Mention | None, spoken_of: Reference, systems: Collection[str]
) -> Iterator[ClauseTriple]:
    """Yields relations whose acting side is the section's own thing, if only a part of a system can be meant."""
    source = spoken_of.section
    if named is not None or source is None or target is None or source.entity_id == target.entity_id:
        return
    if clause.relation in VERBS and is_between_parts(source, target, systems):
        yield from _triple(clause, source, target, REFERRED, systems)


def is_between_parts(source: Mention, target: Mention, systems: Collection[str]) -> bool:
    """Returns whether both are parts of systems, or one is and the other may be."""
    unknown = [one for one in (source, target) if one.entity_id not in systems]
    return len(unknown) < 2 and not any(one.entity_type in NO_PARTS for one in unknown)


def _triple(
    clause: Clause, source: Mention, target: Mention, confidence: float, systems: Collection[str]
) -> Iterator[ClauseTriple]:
    relation_type, reverse = CLOSED.get(clause.relation, (clause.relation, False))
    if is_between_parts(source, target, systems):
        relation_type = VERBS.get(clause.relation, "CALLS" if clause.relation.endswith(WAYS) else relation_type)
        if clause.relation in LEAVING and clause.time in {CURRENT, PERFECT, PRETERITE}:
            relation_type, clause = "DEPENDS_ON", replace(clause, time=PAST)
        if clause.relation in SERVING:
            relation_type, reverse = "DEPENDS_ON", True
    if clause.relation == "TAKE_OVER" and source.entity_type == "TEAM" and target.entity_id in systems:
        relation_type = "OWNS"  # the current owner
        clause = replace(clause, time=CURRENT) if clause.time in {PERFECT, PRETERITE} else clause
    is_owner = target.entity_type in {"TEAM", "PERSON"} or (
        target.entity_type in OWNERS and source.entity_id in systems and target.entity_id not in systems
    )
    if clause.relation == "BELONG_TO" and is_owner:
        if target.entity_type == "PERSON":
            return  # usually the short name of a team
        relation_type, reverse = "OWNS", True
    elif clause.relation == "BELONG_TO" and source.entity_id in systems and target.entity_id not in systems:
        relation_type = BELONGS_TO
    if relation_type == "OWNS" and confidence == REFERRED and (source if reverse else target).entity_type in NO_PARTS:
        return
    is_word = re.fullmatch(r"[^\W\d]\w*", relation_type) is not None
    if is_word and len(relation_type) <= LONGEST_TYPE and relation_type not in NO_RELATION:
        ends = (target, source) if reverse else (source, target)
        yield ClauseTriple(*ends, relation_type, clause.phrase, confidence, clause.subject, clause.time)
