"""Replies to questions that no fact answers: quotes what the person who asks said about it, or says that this was
nothing. No I/O.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from contracts.fixed_answers import NOT_REMEMBERED
from contracts.memory import MemoryKind, RecalledMemory, UnansweredQuestion
from memory.facts.moments import day_meant
from memory.facts.questions import FactQuestion
from memory.facts.statements import plain
from memory.recall.telling import Telling
from memory.times import MONTH_NAMES, zone
from relevance.german import is_german

MOST_QUOTED = 2
LOOKED_AT = 20
"""Memories that are read for what they tell."""
RELATED = 0.43
"""Least relation of a message that is quoted although it does not tell what is asked."""
_ASKS = re.compile(
    r"(?:what|where|when|who|which|whose|how (?:many|much|old|long ago)|do|did|am|was|have|had|will|wo|wohin|wann|wer"
    r"|wem|welche[nmrs]?|wie (?:heißt|heiße|alt|viele?|lautet)|in welche[rnms]?|bin|war|habe|hatte|mag|esse|trinke)\b",
    re.IGNORECASE,
)
_OF_SELF = re.compile(
    r"\b(?:my|mine|mein(?:e[nmrs]?)?|(?:do|did|am|was|have|had|will) i|(?:bin|war|habe|hatte|wohne|wohnte|arbeite"
    r"|heiße|mag|esse|trinke|fahre|spreche|lebe|lebte) ich)\b",
    re.IGNORECASE,
)
_ABOUT_DOING = re.compile(
    r"\b(?:need|have to|must|should|can|could|may|get|find|request|apply|set|configure|install|use|change|reset|happens"
    r"|muss|kann|könnte|soll|darf|bekomme|finde|beantrage|ändere|brauche)\b",
    re.IGNORECASE,
)


def told_before(
    question: str, candidates: Sequence[RecalledMemory], telling: Telling, time_zone: str
) -> UnansweredQuestion | None:
    """Returns the newest clauses of the person who asks that tell what is asked; None if there are none.

    `candidates`: those that resemble the question most come first.
    """
    asked = telling.asked(question)
    if asked is None:
        return None
    found, german = dict[str, str](), is_german(question)
    own = [one for one in candidates if _is_own(one)][:LOOKED_AT]
    for one in sorted(own, key=lambda one: one.said_at, reverse=True):
        if told := telling.told(asked, one.content, one.said_at, time_zone):
            day = day_meant(told.text, one.said_at, time_zone, german=german) if asked.kind == "time" else None
            text = f"{told.text} ({day})" if day else told.text
            found.setdefault(plain(told.text), _said(one, text, time_zone, german=german))
            if told.ends_earlier:
                break
    if not found:
        return None
    text = " ".join(list(found.values())[:MOST_QUOTED])
    return UnansweredQuestion(text=text, language="de" if german else "en", known=True)


def has_quotable(candidates: Sequence[RecalledMemory]) -> bool:
    """Returns whether these are all that `told_before` would read, whatever comes after them."""
    return sum(map(_is_own, candidates)) >= LOOKED_AT


def unanswered(
    question: str, asked: FactQuestion | None, memories: Sequence[RecalledMemory], telling: Telling, time_zone: str
) -> UnansweredQuestion | None:
    """Returns the reply; None if the question is not about the person who asks."""
    if not (asked.about_user if asked else is_personal(question)):
        return None
    german = is_german(question)
    language = "de" if german else "en"
    own = [one for one in memories if _is_own(one)]
    related = telling.related(question, [one.content for one in own])
    quoted = _quotable([one for one, share in zip(own, related, strict=True) if share >= RELATED])
    if not quoted:
        return UnansweredQuestion(text=NOT_REMEMBERED[language], language=language, known=False)
    begin = "Genau das weiß ich nicht." if german else "I have no direct answer to that."
    said = (_said(one, one.content, time_zone, german=german) for one in quoted)
    return UnansweredQuestion(text=" ".join([begin, *said]), language=language, known=True)


def is_personal(question: str) -> bool:
    """Returns whether the question asks for something that only the person who asks can have said."""
    text = " ".join(question.split())
    asks = text.endswith("?") and bool(_ASKS.match(text))
    return asks and bool(_OF_SELF.search(text)) and not _ABOUT_DOING.search(text)


def _is_own(one: RecalledMemory) -> bool:
    """Returns whether it is what the person said, asks nothing, and still holds."""
    own = one.kind is not MemoryKind.episode or (one.said is not None and one.said.role == "user")
    return own and not one.superseded and not one.content.rstrip().endswith("?")


def _quotable(own: Sequence[RecalledMemory]) -> list[RecalledMemory]:
    """Returns the best, newest first; facts instead of their messages."""
    kept = list[RecalledMemory]()
    for one in sorted(own, key=lambda one: one.kind is MemoryKind.episode):
        if not any(plain(other.content) in plain(one.content) for other in kept):
            kept.append(one)
    kept.sort(key=own.index)
    return sorted(kept[:MOST_QUOTED], key=lambda one: one.said_at, reverse=True)


def _said(one: RecalledMemory, text: str, time_zone: str, *, german: bool) -> str:
    said, told = one.said_at.astimezone(zone(time_zone)), text.strip().rstrip(".!")
    month = MONTH_NAMES["de" if german else "en"][said.month - 1]
    if german:
        return f"Du sagtest am {said.day}. {month} {said.year}: {told}."
    return f"You said on {said.day} {month} {said.year}: {told}."
