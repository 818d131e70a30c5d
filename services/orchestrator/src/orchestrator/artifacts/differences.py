"""Finds the differences of two texts in linear time. Pure.

Patience diff: parts that occur once in both texts are anchors; the parts between them are compared in the same way.
Only small remainders without anchors are compared part by part (Bram Cohen, "Patience Diff Advantages", 2010).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

PART_END = re.compile(r"\n|[.!?][\"')\]]?[ \t]++")
LINE_END = re.compile(r"\n")
DEEPEST = 8
SMALL = 2_500


@dataclass(frozen=True)
class TextChange:
    """Characters `start` to `end` of one text became `new_start` to `new_end` of the other."""

    start: int
    end: int
    new_start: int
    new_end: int


def changes(before: str, after: str) -> list[TextChange]:
    """Returns the differences in whole sentences and lines, in order; no two are adjacent."""
    if before == after:
        return []
    return _changes(sentences(before), sentences(after))


def line_changes(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """Returns the blocks of differing lines, by line numbers."""
    gaps: list[tuple[int, int, int, int]] = []
    old = new = 0
    for old_start, new_start, length in [*_matches(before, after), (len(before), len(after), 0)]:
        if old < old_start or new < new_start:
            gaps.append((old, old_start, new, new_start))
        old, new = old_start + length, new_start + length
    return gaps


def lines(text: str) -> list[str]:
    """Returns the lines with their line ends; only line feeds end a line."""
    return _parts(text, LINE_END)


def sentences(text: str) -> list[str]:
    """Splits the text into sentences and lines, including their separators."""
    return _parts(text, PART_END)


def trimmed(change: TextChange, before: str, after: str) -> TextChange:
    """Returns the change without its common prefix and suffix."""
    old, new = before[change.start : change.end], after[change.new_start : change.new_end]
    head = _common_prefix(old, new)
    tail = _common_prefix(old[head:][::-1], new[head:][::-1])
    return TextChange(change.start + head, change.end - tail, change.new_start + head, change.new_end - tail)


def _parts(text: str, end: re.Pattern[str]) -> list[str]:
    found, start = [], 0
    for match in end.finditer(text):
        found.append(text[start : match.end()])
        start = match.end()
    return [*found, text[start:]] if start < len(text) else found


def _changes(before: list[str], after: list[str]) -> list[TextChange]:
    old_at, new_at = _offsets(before), _offsets(after)
    return [
        TextChange(old_at[old], old_at[old_end], new_at[new], new_at[new_end])
        for old, old_end, new, new_end in line_changes(before, after)
    ]


def _offsets(parts: Sequence[str]) -> list[int]:
    offsets = [0]
    for part in parts:
        offsets.append(offsets[-1] + len(part))
    return offsets


def _common_prefix(one: str, other: str) -> int:
    """Returns the length of the common prefix, by bisection, because comparing slices is fast."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


@dataclass(frozen=True)
class _Window:
    """Two ranges of parts that are compared with each other."""

    old: int
    old_end: int
    new: int
    new_end: int
    depth: int


def _matches(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int, int]]:
    """Returns the equal blocks (start in the first, start in the second, length), in order."""
    found: list[tuple[int, int, int]] = []
    waiting = [_Window(0, len(before), 0, len(after), 0)]
    while waiting:
        window = _without_equal_ends(waiting.pop(), before, after, found)
        if window.old == window.old_end or window.new == window.new_end:
            continue
        anchors = _anchors(window, before, after) if window.depth < DEEPEST else []
        if anchors:
            waiting += _between(window, anchors)
        elif (window.old_end - window.old) * (window.new_end - window.new) <= SMALL:
            old, new = before[window.old : window.old_end], after[window.new : window.new_end]
            blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
            found += [(window.old + a, window.new + b, size) for a, b, size in blocks if size]
    return sorted(found)


def _without_equal_ends(
    window: _Window, before: Sequence[str], after: Sequence[str], found: list[tuple[int, int, int]]
) -> _Window:
    old, old_end, new, new_end = window.old, window.old_end, window.new, window.new_end
    while old < old_end and new < new_end and before[old] == after[new]:
        old, new = old + 1, new + 1
    if old > window.old:
        found.append((window.old, window.new, old - window.old))
    while old < old_end and new < new_end and before[old_end - 1] == after[new_end - 1]:
        old_end, new_end = old_end - 1, new_end - 1
    if old_end < window.old_end:
        found.append((old_end, new_end, window.old_end - old_end))
    return _Window(old, old_end, new, new_end, window.depth)


def _anchors(window: _Window, before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Returns the most parts that occur once in each, in the same order (the longest increasing subsequence)."""
    old, new = before[window.old : window.old_end], after[window.new : window.new_end]
    old_counts, new_counts = Counter(old), Counter(new)
    places = {part: place for place, part in enumerate(new) if new_counts[part] == 1}
    pairs = [(place, places[part]) for place, part in enumerate(old) if old_counts[part] == 1 and part in places]
    tails: list[int] = []
    ends: list[int] = []
    earlier: list[int | None] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(tails, place)
        earlier.append(ends[length - 1] if length else None)
        tails[length : length + 1] = [place]
        ends[length : length + 1] = [number]
    chain: list[tuple[int, int]] = []
    at = ends[-1] if ends else None
    while at is not None:
        chain.append((window.old + pairs[at][0], window.new + pairs[at][1]))
        at = earlier[at]
    return chain[::-1]


def _between(window: _Window, anchors: list[tuple[int, int]]) -> list[_Window]:
    """Returns a window from each anchor to the next, beginning with the equal part."""
    places = [(window.old, window.new), *anchors, (window.old_end, window.new_end)]
    return [
        _Window(old, old_end, new, new_end, window.depth + 1) for (old, new), (old_end, new_end) in pairwise(places)
    ]


def added(before: str, after: str, *, most: int, longest: int) -> list[str]:
    """Returns what the second text adds to the first: at most `most` changes, each cut to `longest`."""
    new = (after[one.new_start : one.new_end].strip()[:longest] for one in changes(before, after))
    return [text for text in new if text][:most]
