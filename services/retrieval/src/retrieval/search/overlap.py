"""Joins consecutive chunks to one text without repeating the overlap that they were cut with. No IO."""

from __future__ import annotations

from collections.abc import Iterable

SHORTEST_OVERLAP = 20  # characters; less is a coincidence as often as not
BETWEEN = "\n"


def joined(texts: Iterable[str]) -> tuple[str, list[tuple[int, int]]]:
    """The text, and where in it (start, end) each of the texts added something."""
    whole, parts, before = "", [], ""
    for text in texts:
        shared = overlap(before, text)
        start = len(whole) if shared or not whole else len(whole) + len(BETWEEN)
        whole += ("" if start == len(whole) else BETWEEN) + text[shared:]
        parts.append((start, len(whole)))
        before = text
    return whole, parts


def overlap(before: str, after: str) -> int:
    """The length of the longest end of `before` that `after` begins with; 0 where that is too short to be meant."""
    probe = after[:SHORTEST_OVERLAP]
    if len(probe) < SHORTEST_OVERLAP:
        return 0
    position = before.find(probe, max(0, len(before) - len(after)))
    while position >= 0:
        if after.startswith(before[position:]):
            return len(before) - position
        position = before.find(probe, position + 1)
    return 0
