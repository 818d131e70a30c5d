"""What is known about a user, for a prompt within a token budget, or as an answer. No I/O."""

from __future__ import annotations

import re
from collections.abc import Sequence

from contracts.memory import MemoryKind, MemoryProfile
from memory.facts.repository import HeldFact
from memory.preparation import estimated_tokens
from memory.times import MONTH_NAMES, zone
from relevance.german import is_german

MOST_IN_PROFILE = 200
MOST_LISTED = 20
_ASKS_FOR_ALL = re.compile(
    r"\W*(?:(?:so|and|please|und|bitte),? )?(?:"
    r"what (?:else )?(?:do|did|can|have) you (?:know|remember|recall|learn(?:ed|t)?|note(?:d)?|store(?:d)?|tell me)"
    r" (?:about|of|on) me|(?:tell|show) me (?:what|everything|all)(?: that)? you (?:know|remember) (?:about|of) me"
    r"|was (?:weißt|weisst|merkst) du(?: dir)?(?: alles)? (?:über|von) mi(?:ch|r)"
    r"|was hast du (?:dir )?(?:alles )?(?:über|von) mi(?:ch|r) gemerkt)\W*",
    re.IGNORECASE,
)


def asks_for_all_known(message: str) -> bool:
    """Returns whether the message asks what is remembered of the person who asks."""
    return bool(_ASKS_FOR_ALL.fullmatch(message[:200]))


def all_known(question: str, held: Sequence[HeldFact], time_zone: str) -> str:
    """Returns the answer: the newest facts in the words in which they were told, with their days."""
    german = is_german(question)
    texts = dict.fromkeys(_line(fact, time_zone, german=german) for fact in held)
    begin = "Das habe ich mir von dir gemerkt:" if german else "This is what I remember from you:"
    lines = [begin, *list(texts)[:MOST_LISTED]]
    if (more := len(texts) - MOST_LISTED) > 0:
        lines.append(f"- und {more} weitere" if german else f"- and {more} more")
    return "\n".join(lines)


def _line(fact: HeldFact, time_zone: str, *, german: bool) -> str:
    said = fact.said_at.astimezone(zone(time_zone))
    month = MONTH_NAMES["de" if german else "en"][said.month - 1]
    day = f"{said.day}. {month} {said.year}" if german else f"{said.day} {month} {said.year}"
    told = fact.content.strip().rstrip(".")
    return f"- {f'{fact.speaker}: ' if fact.speaker else ''}{told} ({day})"


def profile_of(held: Sequence[HeldFact], token_budget: int) -> MemoryProfile:
    """Returns the style, then the facts, as far as the budget allows; without repeats, newest first, like `held`."""
    style = [fact.content for fact in held if fact.kind == MemoryKind.style]
    others = [fact.content for fact in held if fact.kind != MemoryKind.style]
    left, kept = token_budget, set[str]()
    for text in [*style, *others]:
        if text not in kept and (cost := estimated_tokens(text)) <= left:
            left -= cost
            kept.add(text)
    return MemoryProfile(style=_kept(style, kept), facts=_kept(others, kept))


def _kept(texts: Sequence[str], kept: set[str]) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text in kept))
