"""What a message states, in the form that the rules and the chat model share. No I/O."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal
from uuid import UUID

from contracts.memory import MemoryKind

USER = "user"
DECIDED = "decided"
DATES = ("date", "deadline")
"""Predicates of what takes place or is due at a time."""
TIMES = (*DATES, "end", "birthday")
"""Predicates whose object is a time."""
PLANS = {"lives in": "plans to live in", "works at": "plans to work at", "lead": "planned lead"}
"""Predicates of what is planned for a time that nobody has named, by that of what is so once it has happened."""
Values = Literal["one", "many", "unknown"]


class FactDecision(StrEnum):
    add = "ADD"
    update = "UPDATE"
    invalidate = "INVALIDATE"
    noop = "NOOP"


@dataclass(frozen=True)
class StatedFact:
    """`text` is the sentence. `subject` is `user` or a name; None for "no, it is X" and "it was moved to Friday", which
    are about what was said before, and for "no, the supplier is X", which is about what is known by this noun.

    `values`: how many objects the predicate has at a time. `starts` and `ends` are when it began and ceased to hold, if
    stated, in the words of `phrase`; `starts_by` is the end of the day or month in which it began. `over`: it says that
    something no longer holds. `corrects`: what was said before was never true. `revises`: an earlier decision
    about the same no longer holds. `meant`: it is "I meant …", and nothing more. `replaces` is the object that was
    named as wrong, `follows` the one that held until then. `decision` is the chat model's, about the memory with the id
    `decided_on`; the rules leave both open.
    """

    kind: MemoryKind
    text: str
    subject: str | None
    predicate: str
    object: str
    values: Values = "many"
    starts: datetime | None = None
    starts_by: datetime | None = None
    ends: datetime | None = None
    phrase: str | None = None
    over: bool = False
    corrects: bool = False
    replaces: str | None = None
    follows: str | None = None
    revises: bool = False
    meant: bool = False
    decision: FactDecision | None = None
    decided_on: UUID | None = None


_ARTICLE = re.compile(r"(?i)^(?:the|a|an|my|our|der|die|das|dem|den|ein|eine|einen|einem|mein|meine|meinen) ")


def plain(text: str) -> str:
    """Normalises an object or subject for comparison: lower case, without article and final punctuation."""
    text = " ".join(text.casefold().split()).strip(" .,!?;:\"'")
    return _ARTICLE.sub("", text)
