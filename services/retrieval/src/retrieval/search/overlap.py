"""Joins consecutive chunks into one text without repeating the overlap that they were cut with. No IO."""

from __future__ import annotations

from collections.abc import Iterable

SHORTEST_OVERLAP = 20  # characters; a shorter one is often a coincidence
BETWEEN = "\n"


def joined(texts: Iterable[str]) -> tuple[str, list[tuple[int, int]]]:
    """Returns the joined text, and the range (start, end) in it that each text added."""
    whole, parts, before = "", [], ""
    for text in texts:
        shared = overlap(before, text)
        start = len(whole) if shared or not whole else len(whole) + len(BETWEEN)
        whole += ("" if start == len(whole) else BETWEEN) + text[shared:]
        parts.append((start, len(whole)))
        before = text
    return whole, parts


def overlap(before: str, after: str) -> int:
    """Returns the length of the longest end of `before` that `after` begins with; 0 if that is too short."""
    probe = after[:SHORTEST_OVERLAP]
    if len(probe) < SHORTEST_OVERLAP:
        return 0
    position = before.find(probe, max(0, len(before) - len(after)))
    while position >= 0:
        if after.startswith(before[position:]):
            return len(before) - position
        position = before.find(probe, position + 1)
    return 0
