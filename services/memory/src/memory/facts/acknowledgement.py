"""Answers messages that state something to remember and ask nothing. No I/O."""

from __future__ import annotations

import re
from datetime import datetime

from contracts.fixed_answers import HOW_TO_FORGET, NOTED, WHICH_CORRECTED
from contracts.memory import MemoryKind, ToldStatement
from memory.facts.clauses import clauses
from memory.facts.corrections import SaidBefore, corrected, is_unclear
from memory.facts.repository import Writing
from memory.facts.rules import statements
from memory.facts.statements import USER, StatedFact
from memory.secrets import has_secret
from relevance.german import language_of

LONGEST = 1_000
_ASKED_FOR_ONCE = frozenset({"has", "is", "decided"})
"""Predicates of sentences that often open a request: "I have a question about holidays"."""
_LASTING = re.compile(
    r"\b(?:always|never|from now on|in future|i prefer|call me|immer|nie|künftig|ab jetzt|ich bevorzuge|duze|sieze)\b",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"(?:please |bitte )?(?:(?:remember|note|keep in mind|do not forget|don't forget)(?:: | that )"
    r"|(?:merke? dir|notiere?(?: dir)?|vergiss nicht)(?: bitte)?(?:: |, dass ))\S",
    re.IGNORECASE,
)
"""A request to remember something is confirmed even if no rule finds a fact in it: the message is kept and quoted."""

# "Delete everything about prices" may be about a text that is being written.
_FORGET = re.compile(
    r"\W*(?:please |bitte |(?:can|could|would) you (?:please )?)?(?:"
    r"forget (?:that (?:i|my|we)|what i|everything|all|about me|my (?:name|address|birthday)|me)\b"
    r"|(?:delete|remove) (?:everything|all|what)(?: that)? (?:you (?:know|remember)|i (?:said|told you))\b"
    r"|vergiss(?: bitte)?,? (?:dass|alles|was ich|mich|meine[nrs]?)\b|lösche? alles, was du (?:über|von) mi(?:ch|r)\b)",
    re.IGNORECASE,
)


def acknowledged(
    text: str, at: datetime, time_zone: str, writing: Writing, before: SaidBefore | None = None
) -> ToldStatement | None:
    """Returns the answer to a message of which something is kept; None if it asks something, or nothing is kept.

    If it is not clear what it corrects, the answer asks for that. Who asks to forget something is told how to: what
    goes with it is to be seen before it is deleted.
    """
    language = language_of(text)
    if len(text) <= LONGEST and _FORGET.match(text):
        return ToldStatement(text=HOW_TO_FORGET[language], about_user=True, language=language)
    if writing == "off" or len(text) > LONGEST or "?" in text:
        return None
    kept = [
        one
        for clause, corrects in clauses(text)
        for one in statements(f"no, {clause}" if corrects else clause, at, time_zone)
        if one.subject is not None and _is_kept(one, clause)
    ]
    corrections = [one for one in statements(text, at, time_zone) if one.subject is None]
    kept += [one for each in corrections if (one := corrected(each, before or SaidBefore(), at, time_zone))]
    wished = bool(_WISH.match(text)) and not has_secret(text)
    if not kept and before and any(is_unclear(one, before, at, time_zone) for one in corrections):
        return ToldStatement(text=WHICH_CORRECTED[language], about_user=True, language=language)
    if not kept and not wished:
        return None
    about_user = wished or any(_is_about_user(one) for one in kept)
    return ToldStatement(text=NOTED[writing, language], about_user=about_user, language=language)


def _is_kept(statement: StatedFact, clause: str) -> bool:
    """Returns whether the statement lasts; a wish for a single answer does not, judging by its clause."""
    return statement.kind is not MemoryKind.style or bool(_LASTING.search(clause))


def _is_about_user(statement: StatedFact) -> bool:
    subject = statement.subject or ""
    return (subject == USER or subject.startswith(f"{USER}'s ")) and statement.predicate not in _ASKED_FOR_ONCE
