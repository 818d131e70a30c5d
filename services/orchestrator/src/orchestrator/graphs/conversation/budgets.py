"""Budgets in estimated tokens. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, takewhile

from inference.estimate import estimated_tokens

MOST_ANSWER_TOKENS = 2_048


def prompt_room(window: int) -> int:
    """Returns the tokens of a model's window that a prompt may use: a quarter, up to 2,048, is left for the answer."""
    return window - min(MOST_ANSWER_TOKENS, window // 4)


def shared_room(room: int, passages: int, history: int) -> tuple[int, int]:
    """Returns the tokens for passages and history: the intended ones, or two thirds of the room and the rest."""
    if passages + history <= room:
        return passages, history
    left = max(room, 0)
    for_passages = min(passages, max(left - history, 2 * left // 3))
    return for_passages, min(history, left - for_passages)


def within_budget(texts: Sequence[str], tokens: int) -> int:
    """Returns how many of the first texts fit into the budget together."""
    return sizes_within((estimated_tokens(text) for text in texts), tokens)


def sizes_within(sizes: Iterable[int], tokens: int) -> int:
    """Returns how many of the first sizes fit into the budget together."""
    return sum(1 for _ in takewhile(lambda used: used <= tokens, accumulate(sizes)))
