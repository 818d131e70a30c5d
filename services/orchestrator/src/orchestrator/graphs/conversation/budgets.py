"""Budgets of tokens, as estimated. Pure."""

from __future__ import annotations

from collections.abc import Sequence


def estimated_tokens(text: str) -> int:
    """Counts four bytes to a token: near enough for a budget, and on the safe side for other scripts."""
    return -(-len(text.encode()) // 4)


def within_budget(texts: Sequence[str], tokens: int) -> int:
    """Returns how many of the texts, from the first on, fit into the budget together."""
    used = 0
    for count, text in enumerate(texts):
        used += estimated_tokens(text)
        if used > tokens:
            return count
    return len(texts)
