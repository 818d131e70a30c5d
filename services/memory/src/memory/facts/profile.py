"""What is known about a user, for a prompt, within a token budget. No I/O."""

from __future__ import annotations

from collections.abc import Sequence

from contracts.memory import MemoryKind, MemoryProfile
from memory.facts.repository import HeldFact
from memory.preparation import estimated_tokens

MOST_IN_PROFILE = 200


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
