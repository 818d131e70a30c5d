"""Operations on the text of an artifact. Pure, without database or network.

Offsets are Unicode code points. Nothing is normalised: line ends, emoji, `$&` and `\\1` stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from orchestrator.artifacts.differences import TextChange, changes, line_changes, lines, trimmed

CONTEXT = 32
LINES_AROUND = 3
NO_LINE_END = "\\ No newline at end of file\n"


class TextEdit(Protocol):
    """Replaces the only occurrence of `find`."""

    @property
    def find(self) -> str: ...
    @property
    def replace(self) -> str: ...


@dataclass(frozen=True)
class MisplacedEdit:
    """The edit `number` (from 1), and how often its `find` occurs; None if it overlaps another edit."""

    number: int
    find: str
    count: int | None

    def __str__(self) -> str:
        quoted = f"edit {self.number} ({self.find[:60]!r})"
        if self.count is None:
            return f"{quoted} overlaps another one"
        return f"{quoted} is not there" if self.count == 0 else f"{quoted} occurs {self.count} times"


class EditsNotApplicable(Exception):
    """Explains why each edit cannot be made; nothing was changed."""

    def __init__(self, misplaced: Sequence[MisplacedEdit]) -> None:
        super().__init__("; ".join(map(str, misplaced)))
        self.misplaced = list(misplaced)


def splice(text: str, start: int, end: int, replacement: str) -> str:
    """Returns the text with characters `start` to `end` replaced."""
    if not 0 <= start <= end <= len(text):
        raise ValueError(f"no span of a text of {len(text)} characters: {start} to {end}")
    return text[:start] + replacement + text[end:]


def find_span(now: str, seen_version: str, start: int, end: int, seen: str) -> tuple[int, int] | None:
    """Returns the position in `now` of characters `start` to `end` of `seen_version`, which read `seen`.

    It is known if the text is the same, if only other places have changed, or if they occur exactly once together with
    the 32 characters before and after them. Otherwise, or if they do not read `seen`, returns None.
    """
    if not 0 <= start <= end <= len(seen_version) or seen_version[start:end] != seen:
        return None
    if now == seen_version:
        return start, end
    return _moved(now, seen_version, start, end) or _unique(now, seen_version, start, end)


def apply_edits(text: str, edits: Sequence[TextEdit]) -> str:
    """Returns the text with all edits made, each at the only occurrence of its `find` in the given text.

    Raises EditsNotApplicable.
    """
    spans, misplaced = list[tuple[int, int, int]](), list[MisplacedEdit]()
    for number, edit in enumerate(edits, 1):
        places = list(_places(text, edit.find, most=1_000))
        if len(places) == 1:
            spans.append((places[0], places[0] + len(edit.find), number))
        else:
            misplaced.append(MisplacedEdit(number, edit.find, len(places)))
    spans.sort()
    for (_, end, _), (start, _, number) in pairwise(spans):
        if start < end:
            misplaced.append(MisplacedEdit(number, edits[number - 1].find, None))
    if misplaced:
        raise EditsNotApplicable(sorted(misplaced, key=lambda one: one.number))
    for start, end, number in reversed(spans):
        text = splice(text, start, end, edits[number - 1].replace)
    return text


def merge(base: str, theirs: str, ours: str) -> str | None:
    """Returns the base with both changes, or None if they change the same sentence or line differently."""
    made = [(change, theirs) for change in changes(base, theirs)]
    for change in changes(base, ours):
        clashing = [other for other, _ in made if _clash(change, other)]
        if not clashing:
            made.append((change, ours))
        elif [_reading(other, theirs) for other in clashing] != [_reading(change, ours)]:
            return None
    made.sort(key=lambda pair: (pair[0].start, pair[0].end))
    parts, at = list[str](), 0
    for change, after in made:
        parts += [base[at : change.start], after[change.new_start : change.new_end]]
        at = change.end
    return "".join([*parts, base[at:]])


def diff(a: str, b: str) -> str:
    """Returns a unified line diff without a header; empty if the texts are equal."""
    before, after = lines(a), lines(b)
    return "".join(_hunk(group, before, after) for group in _groups(line_changes(before, after)))


def _moved(now: str, seen_version: str, start: int, end: int) -> tuple[int, int] | None:
    shift = 0
    for change in (trimmed(change, seen_version, now) for change in changes(seen_version, now)):
        if change.end <= start:
            shift += (change.new_end - change.new_start) - (change.end - change.start)
        elif change.start < end:
            return None
    found = start + shift, end + shift
    return found if now[found[0] : found[1]] == seen_version[start:end] else None


def _unique(now: str, seen_version: str, start: int, end: int) -> tuple[int, int] | None:
    before = seen_version[max(0, start - CONTEXT) : start]
    places = list(_places(now, before + seen_version[start : end + CONTEXT], most=2))
    if len(places) != 1:
        return None
    return places[0] + len(before), places[0] + len(before) + end - start


def _places(text: str, part: str, most: int) -> Iterator[int]:
    """Yields the positions of the part, including overlapping ones; stops after `most` + 1."""
    at = -1
    for _ in range(most + 1):
        at = text.find(part, at + 1)
        if at < 0:
            return
        yield at


def _clash(one: TextChange, other: TextChange) -> bool:
    """Returns whether two changes clash; adjacent ones do only if one is an insertion: their order is undefined."""
    if one.start == one.end or other.start == other.end:
        return one.start <= other.end and other.start <= one.end
    return one.start < other.end and other.start < one.end


def _reading(change: TextChange, after: str) -> tuple[int, int, str]:
    return change.start, change.end, after[change.new_start : change.new_end]


def _groups(blocks: list[tuple[int, int, int, int]]) -> list[list[tuple[int, int, int, int]]]:
    """Groups the blocks whose context lines meet."""
    groups: list[list[tuple[int, int, int, int]]] = []
    for block in blocks:
        if groups and block[0] - groups[-1][-1][1] <= 2 * LINES_AROUND:
            groups[-1].append(block)
        else:
            groups.append([block])
    return groups


def _hunk(group: list[tuple[int, int, int, int]], before: list[str], after: list[str]) -> str:
    first, last = group[0], group[-1]
    head, tail = min(LINES_AROUND, first[0]), min(LINES_AROUND, len(before) - last[1])
    old, old_end, new, new_end = first[0] - head, last[1] + tail, first[2] - head, last[3] + tail
    written, at = [f"@@ -{_range(old, old_end)} +{_range(new, new_end)} @@\n"], old
    for start, end, new_start, end_of_new in group:
        written += _marked(" ", before[at:start])
        written += _marked("-", before[start:end])
        written += _marked("+", after[new_start:end_of_new])
        at = end
    return "".join([*written, *_marked(" ", before[at:old_end])])


def _range(start: int, end: int) -> str:
    length = end - start
    return f"{start + 1}" if length == 1 else f"{start + 1 if length else start},{length}"


def _marked(mark: str, kept: list[str]) -> list[str]:
    return [mark + line if line.endswith("\n") else f"{mark}{line}\n{NO_LINE_END}" for line in kept]
