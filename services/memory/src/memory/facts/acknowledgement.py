"""Answers messages that state something to remember and ask nothing. No I/O."""

from __future__ import annotations

import re
from datetime import datetime

from contracts.fixed_answers import NOTED
from contracts.memory import MemoryKind, ToldStatement
from memory.facts.clauses import clauses
from memory.facts.language import is_german
from memory.facts.repository import Writing
from memory.facts.rules import statements
from memory.facts.statements import USER, StatedFact

LONGEST = 1_000
_ASKED_FOR_ONCE = frozenset({"has", "is", "decided"})
"""Predicates of sentences that often open a request: "I have a question about holidays"."""
_LASTING = re.compile(
    r"\b(?:always|never|from now on|in future|i prefer|call me|immer|nie|künftig|ab jetzt|ich bevorzuge|duze|sieze)\b",
    re.IGNORECASE,
)

_NAMING = re.compile(r"\b(?:name|called|heißt)\b", re.IGNORECASE)


def acknowledged(text: str, at: datetime, time_zone: str, writing: Writing) -> ToldStatement | None:
    """Returns the answer to a message of which something is kept; None if it asks something, or nothing is kept."""
    if writing == "off" or len(text) > LONGEST or "?" in text:
        return None
    told = [
        one
        for clause, corrects in clauses(text)
        for one in statements(f"no, {clause}" if corrects else clause, at, time_zone)
        if _is_kept(one, clause)
    ]
    if not told:
        return None
    about_user = any(_is_about_user(one) for one in told)
    german = is_german(text)
    return ToldStatement(text=NOTED[writing, german], about_user=about_user, language="de" if german else "en")


def _is_kept(statement: StatedFact, clause: str) -> bool:
    """Returns whether the statement lasts; a wish for a single answer does not, judging by its clause.

    "No, it is X" may be about the answer before; only with a name or what was wrong does it correct a fact.
    """
    if statement.subject is None:
        return statement.replaces is not None or bool(_NAMING.search(clause))
    return statement.kind is not MemoryKind.style or bool(_LASTING.search(clause))


def _is_about_user(statement: StatedFact) -> bool:
    subject = statement.subject or ""
    return (subject == USER or subject.startswith(f"{USER}'s ")) and statement.predicate not in _ASKED_FOR_ONCE
