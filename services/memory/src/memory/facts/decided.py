"""What the chat model decides about a message, and which of it the user's own words prove. No I/O."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from contracts.memory import MemoryKind
from memory.facts.clauses import own_words
from memory.facts.dates import resolved
from memory.facts.reconciliation import KnownFact
from memory.facts.statements import TIMES, USER, FactDecision, StatedFact
from memory.facts.style import of_aspect
from memory.secrets import has_secret

MOST_DECISIONS = 20  # about one message
LEAST_PART = 4
"""Letters with which a compound may begin that names a subject: a Launchtermin is one of the launch."""
_WORD = re.compile(r"\w+")
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class DecidedFact(BaseModel):
    """One decision; `memory` is the number of a memory in the prompt."""

    model_config = ConfigDict(extra="forbid")

    decision: FactDecision
    memory: int | None = None
    quote: Annotated[str, StringConstraints(strip_whitespace=True, min_length=2, max_length=400)]
    kind: Literal["fact", "preference", "style"] = "fact"
    subject: Words = USER
    predicate: Annotated[str, StringConstraints(pattern=r"^[^\W\d_][\w '-]{0,39}$", to_lower=True)]
    object: Words
    one_value: bool = False
    corrects: bool = False
    when: Words | None = None
    tense: Literal["past", "now", "ahead"] = "now"


class DecidedFacts(BaseModel):
    """The decisions about one message."""

    model_config = ConfigDict(extra="forbid")

    decisions: Annotated[list[DecidedFact], Field(max_length=MOST_DECISIONS)]


@dataclass(frozen=True)
class SaidText:
    """A user's message, its time, and the user's time zone (IANA)."""

    content: str
    said_at: datetime
    time_zone: str


def proved(message: SaidText, found: DecidedFacts, shown: Sequence[KnownFact]) -> list[StatedFact]:
    """Returns the decisions that the message proves: quote, object and subject occur in it, outside quotations.

    The number of a memory must be one of those shown. A decision that ends or repeats a memory takes its subject.
    """
    own = _plain(own_words(message.content))
    stated = (_stated(one, message, own, shown) for one in found.decisions)
    return [one for one in stated if one is not None]


def _stated(one: DecidedFact, message: SaidText, own: str, shown: Sequence[KnownFact]) -> StatedFact | None:
    target = shown[one.memory - 1] if one.memory and 0 < one.memory <= len(shown) else None
    quote = _plain(one.quote)
    if quote not in own or "?" in quote or "…" in quote or has_secret(one.quote):
        return None
    if one.decision in (FactDecision.noop, FactDecision.invalidate):
        if target is None:
            return None
        subject = target.subject
    else:
        subject = one.subject
        if not _is_named(subject, own, shown) or not _words(one.object) <= _words(own):
            return None
    fact = _timed(one, message, subject)
    return replace(fact, decision=one.decision, decided_on=target.id if target else None)


def _timed(one: DecidedFact, message: SaidText, subject: str) -> StatedFact:
    text = " ".join(one.quote.split())
    if one.kind == "style":
        return of_aspect(None, text)
    when = resolved(one.when, message.said_at, message.time_zone, ahead=one.tense == "ahead") if one.when else None
    past, dated = one.tense == "past", one.predicate in TIMES
    starts, ends = (when.start, when.end) if when and not dated else (None, None)
    return StatedFact(
        MemoryKind(one.kind),
        text,
        subject,
        one.predicate,
        one.object,
        "one" if one.one_value else "many",
        starts,
        ends if ends and (past or ends <= message.said_at) else None,
        (ends or message.said_at) if past and one.decision is not FactDecision.invalidate else None,
        when.phrase if when else None,
        over=one.decision is FactDecision.invalidate,
        corrects=one.corrects,
    )


def _is_named(subject: str, own: str, shown: Sequence[KnownFact]) -> bool:
    if subject in ("we", USER) or any(subject.casefold() == one.subject.casefold() for one in shown):
        return True
    said = _words(own)
    return all(
        word in said or (len(word) >= LEAST_PART and any(one.startswith(word) for one in said))
        for word in _words(subject.removeprefix(f"{USER}'s "))
    )


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _plain(text: str) -> str:
    return " ".join(text.replace("’", "'").casefold().split())
