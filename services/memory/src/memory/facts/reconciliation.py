"""Decides how a statement changes the known facts: it adds, replaces or ends one, or says nothing new. No I/O.

A fact replaces another only if both have the same subject and a predicate with one value at a time. In doubt both stay,
and the new one is marked as a conflict.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from memory.facts.statements import DECIDED, PLANS, FactDecision, StatedFact, plain
from memory.facts.things import USED, kind_of, named, product

_WORD = re.compile(r"\w+")
_LITTLE_WORDS = "the a an to on in for of with and not use our der die das den dem für zu und nicht mit"
_LITTLE = frozenset(_LITTLE_WORDS.split())
_KIND_OF_PLACE = re.compile(r"(?i)(?:an?|ein(?:e[mnr]?)?) \S")
_NOW = re.compile(r"(?i)\b(?:now|new|started|jetzt|nun|inzwischen|mittlerweile|neu)\b")
PLACES = frozenset({"lives in", "works at"})
"""Predicates of where somebody is: "I live in a small flat" does not say that it is elsewhere than in Munich."""
LONG_BEFORE = timedelta(days=60)
OPPOSITES = {"likes": "dislikes", "dislikes": "likes"}
SEVERAL = frozenset({"likes", "dislikes", "has", "speaks"})
"""Predicates that always have several values at a time, whatever a model thinks."""


@dataclass(frozen=True)
class KnownFact:
    """A fact of the same user that holds or will hold. Lists of these are ordered by when it was said, latest first."""

    id: UUID
    subject: str
    predicate: str
    object: str
    valid_from: datetime
    valid_to: datetime | None
    supersedes: UUID | None
    session_id: UUID | None


@dataclass(frozen=True)
class FactChange:
    """`statement` is added, unless it is None. `closes`: facts that end, and when. `reopens`: facts whose end is
    undone. `again`: the fact that was repeated. `conflicts_with`: a fact that the new one contradicts.
    """

    decision: FactDecision
    statement: StatedFact | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    closes: Sequence[tuple[UUID, datetime]] = ()
    reopens: Sequence[UUID] = ()
    again: UUID | None = None
    supersedes: UUID | None = None
    conflicts_with: UUID | None = None


def reconcile(statement: StatedFact, known: Sequence[KnownFact], said_at: datetime) -> FactChange:
    """Returns the change that a statement makes. `known`: the user's facts; those about other subjects do not change.

    The chat model's decision counts if the facts allow it. If it concerns an unknown fact, or one about another
    subject, the rules decide.
    """
    return _as_decided(statement, known, said_at) or _by_rule(statement, known, said_at)


def _by_rule(statement: StatedFact, known: Sequence[KnownFact], said_at: datetime) -> FactChange:
    if statement.subject is None:
        return FactChange(FactDecision.noop)
    about = [fact for fact in known if named(fact.subject) == named(statement.subject)]
    starts = statement.starts or said_at
    if statement.over:
        return _ended(statement, about, starts)
    same = [fact for fact in about if fact.predicate == statement.predicate]
    is_kind = statement.predicate in PLACES and _KIND_OF_PLACE.match(statement.object)
    if same and is_kind and not _NOW.search(statement.text):
        return FactChange(FactDecision.noop)
    change = _compared(statement, same, about, said_at)
    plans = [one for one in about if one.predicate == PLANS.get(statement.predicate) and _same_object(one, statement)]
    if statement.ends is not None or not plans:
        return change
    return replace(change, closes=[*change.closes, *((one.id, max(starts, one.valid_from)) for one in plans)])


def _compared(
    statement: StatedFact, same: Sequence[KnownFact], about: Sequence[KnownFact], said_at: datetime
) -> FactChange:
    starts = statement.starts or said_at
    for fact in same:
        if plain(fact.object) == plain(statement.object) and _overlaps(fact, statement, starts):
            return FactChange(FactDecision.noop, again=fact.id)
    if statement.ends is not None:
        return FactChange(FactDecision.add, statement, min(starts, statement.ends), statement.ends)
    if statement.replaces is not None:
        same = [fact for fact in same if plain(fact.object) == plain(statement.replaces)] or same
    if statement.predicate in USED and statement.values != "one" and not statement.corrects:
        return _used(statement, same, starts, said_at)
    opposite = [
        fact
        for fact in about
        if fact.predicate == OPPOSITES.get(statement.predicate) and plain(fact.object) == plain(statement.object)
    ]
    if opposite:
        return FactChange(
            FactDecision.update,
            statement,
            starts,
            closes=[(one.id, starts) for one in opposite],
            supersedes=opposite[0].id,
        )
    if statement.predicate == DECIDED and statement.values == "many":
        return _decided(statement, same, starts)
    retires = statement.values == "one" or (statement.corrects and statement.values == "unknown")
    if not same or not (retires or statement.values == "unknown" or statement.replaces):
        return FactChange(FactDecision.add, statement, starts)
    last = same[0]
    if not retires and statement.replaces is None:
        return FactChange(FactDecision.add, statement, starts, conflicts_with=last.id)
    return _updated(statement, same, said_at)


def _decided(statement: StatedFact, same: Sequence[KnownFact], starts: datetime) -> FactChange:
    """Handles decisions: one that is revised ends; otherwise the latest one about the same is marked as a conflict."""
    earlier = next((fact for fact in same if _about_the_same(fact.object, statement.object)), None)
    if earlier is None:
        return FactChange(FactDecision.add, statement, starts)
    if not statement.revises:
        return FactChange(FactDecision.add, statement, starts, conflicts_with=earlier.id)
    at = max(earlier.valid_from, starts)
    return FactChange(FactDecision.update, statement, starts, closes=[(earlier.id, at)], supersedes=earlier.id)


def _about_the_same(one: str, other: str) -> bool:
    """Returns whether two decisions share most of their words, or are for things of the same kind."""
    if (kind := kind_of(one)) is not None and kind == kind_of(other):
        return True
    words, others = (set(_WORD.findall(plain(text))) - _LITTLE for text in (one, other))
    return 2 * len(words & others) >= min(len(words), len(others)) > 0


def _used(statement: StatedFact, same: Sequence[KnownFact], starts: datetime, said_at: datetime) -> FactChange:
    """Handles things that are used: several at a time, each in one version; one that replaces another ends its use."""
    wanted = {product(one) for one in (statement.object, statement.follows) if one is not None}
    earlier = [fact for fact in same if product(fact.object) in wanted]
    if not earlier:
        return FactChange(FactDecision.add, statement, starts)
    if product(statement.object) == plain(statement.object) and statement.follows is None:
        return FactChange(FactDecision.noop, again=earlier[0].id)  # repeated, without the version
    return _updated(statement, earlier, said_at)


def _as_decided(statement: StatedFact, known: Sequence[KnownFact], said_at: datetime) -> FactChange | None:
    target = next((fact for fact in known if fact.id == statement.decided_on), None)
    if target is None or named(target.subject) != named(statement.subject or ""):
        return None
    match statement.decision:
        case FactDecision.noop:
            return FactChange(FactDecision.noop, again=target.id)
        case FactDecision.invalidate:
            return _closed([target], statement.starts or said_at)
        case FactDecision.update if target.predicate == PLANS.get(statement.predicate):
            return None  # the plan has come true: the rules end it
        case FactDecision.update if statement.ends is None and plain(target.object) != plain(statement.object):
            statement = replace(statement, predicate=target.predicate)
            if statement.values == "one" and (statement.corrects or target.predicate not in SEVERAL):
                return _updated(statement, [target], said_at)
            starts = statement.starts or said_at
            return FactChange(FactDecision.add, statement, starts, conflicts_with=target.id)
    return None


def _updated(statement: StatedFact, same: Sequence[KnownFact], said_at: datetime) -> FactChange:
    """Replaces the open facts by the new one. A fact that is corrected never held."""
    last = same[0]
    if statement.corrects:
        starts = statement.starts or last.valid_from
        return FactChange(
            FactDecision.update,
            statement,
            starts,
            closes=[(one.id, one.valid_from) for one in same],
            supersedes=last.id,
        )
    starts = statement.starts or said_at
    if statement.starts_by is not None and starts < last.valid_from < statement.starts_by:
        starts = last.valid_from  # "in January": after the fact that began in January
    if starts + LONG_BEFORE < last.valid_from or (statement.starts is None and starts < last.valid_from):
        # A fact from long ago, or one told before a plan is due, holds until the first later one that is known.
        return FactChange(
            FactDecision.add, statement, starts, min(fact.valid_from for fact in same if fact.valid_from > starts)
        )
    closes = [(fact.id, max(fact.valid_from, min(starts, fact.valid_to or starts))) for fact in same]
    return FactChange(FactDecision.update, statement, starts, closes=closes, supersedes=last.id)


def _ended(statement: StatedFact, about: Sequence[KnownFact], at: datetime) -> FactChange:
    ended = [
        fact
        for fact in about
        if fact.predicate in (statement.predicate, PLANS.get(statement.predicate))
        and (not statement.object or not fact.object or _same_object(fact, statement))
    ]
    return _closed(ended, at) if ended else FactChange(FactDecision.noop)


def _closed(ended: Sequence[KnownFact], at: datetime) -> FactChange:
    """Ends the facts. If a dropped plan had replaced a fact, that one holds again."""
    planned = [fact for fact in ended if fact.valid_from > at]
    closes = [(fact.id, max(at, fact.valid_from)) for fact in ended]
    return FactChange(
        FactDecision.invalidate,
        closes=closes,
        reopens=[fact.supersedes for fact in planned if fact.supersedes is not None],
    )


def _same_object(fact: KnownFact, statement: StatedFact) -> bool:
    known, new = plain(fact.object), plain(statement.object)
    return known == new or known in new or new in known


def _overlaps(fact: KnownFact, statement: StatedFact, starts: datetime) -> bool:
    """Returns whether the fact and the statement are about overlapping times."""
    if statement.ends is not None:
        return fact.valid_from < statement.ends and fact.valid_to is not None
    return fact.valid_to is None or fact.valid_to > starts
