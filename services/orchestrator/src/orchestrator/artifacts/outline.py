"""Fits a long text into a prompt: the parts that matter in full, the others by their first lines. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass

from inference.estimate import estimated_tokens

ENOUGH, LONGEST, LONGEST_HEAD = 1_500, 6_000, 120  # characters: a part without headings, any part, a first line
NO_HEADING = 7  # the level of a part that begins without one
HEADS_SHARE = 4  # a quarter of the budget is for first lines
HIDDEN_TOKENS = 16
HIDDEN = "[… {count} lines that are not shown]\n"
_HEADING = re.compile(r"(#{1,6})[ \t]")
_WORD = re.compile(r"\d+|\w{3,}")


@dataclass(frozen=True)
class OutlinePart:
    """Characters `start` to `end` of a text; `level` is that of its heading."""

    start: int
    end: int
    level: int
    head: str
    lines: int


@dataclass(frozen=True)
class OutlinedText:
    """A text for a prompt; `whole` of its `parts` are complete."""

    text: str
    whole: int
    parts: int

    @property
    def is_cut(self) -> bool:
        return self.whole < self.parts


def outlined(text: str, tokens: int, wish: str) -> OutlinedText:
    """Fits the text into a budget: complete, or with only those parts complete that share rare words with the wish.

    The other parts are reduced to their first lines, higher headings first, with the number of lines not shown.
    """
    if estimated_tokens(text) <= tokens:
        return OutlinedText(text, 1, 1)
    parts = list(_parts(text))
    heads = _heads(parts, tokens // HEADS_SHARE)
    used = sum(estimated_tokens(parts[at].head) + 1 for at in heads) + HIDDEN_TOKENS
    kept = set[int]()
    for at in _nearest_first(text, parts, wish):
        cost = estimated_tokens(text[parts[at].start : parts[at].end]) + HIDDEN_TOKENS
        if used + cost <= tokens:
            kept.add(at)
            used += cost
    return OutlinedText(_shown(text, parts, kept, heads), len(kept), len(parts))


def sections(text: str, tokens: int, is_whole: Callable[[str], bool]) -> list[str]:
    """Cuts a text between its parts into as few pieces as possible that each fit the budget; nothing is left out.

    A piece ends only where `is_whole` accepts it. Returns none if a piece would be too long.
    """
    found, held, used = list[str](), "", 0
    for part in _parts(text):
        piece = text[part.start : part.end]
        cost = estimated_tokens(piece)
        if held and used + cost > tokens and is_whole(held):
            found.append(held)
            held, used = "", 0
        held, used = held + piece, used + cost
        if used > tokens:
            return []
    return [*found, held]


def headings(text: str, tokens: int) -> str:
    """Returns the headings of a text that fit a budget, the highest first, and the number of lines not shown."""
    parts = list(_parts(text)) if text else []
    heads = {at for at in _heads(parts, tokens) if parts[at].level < NO_HEADING}
    return _shown(text, parts, set(), heads)


def _parts(text: str) -> Iterator[OutlinePart]:
    """Cuts a text at its headings, or without any at blank lines before lines that are not indented."""
    start = at = lines = 0
    level, head, fence, after_blank = NO_HEADING, "", "", False
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        found = None if fence else _HEADING.match(line)
        paragraph = after_blank and not fence and bool(bare) and not line[0].isspace()
        length = at - start
        if length and (found or (paragraph and length >= ENOUGH) or length >= LONGEST):
            yield OutlinePart(start, at, level, head, lines)
            start, lines, level, head = at, 0, NO_HEADING, ""
        if not lines and found:
            level = len(found[1])
        if bare.startswith(("```", "~~~")):
            fence = "" if fence and bare.startswith(fence) else fence or bare[:3]
        head = head or bare[:LONGEST_HEAD]
        after_blank = not bare
        at, lines = at + len(line), lines + 1
    yield OutlinePart(start, at, level, head, lines)


def _heads(parts: Sequence[OutlinePart], tokens: int) -> set[int]:
    """Returns the parts whose first lines fit, preferring higher headings."""
    heads = set[int]()
    for at in sorted(range(len(parts)), key=lambda at: (parts[at].level, at)):
        tokens -= estimated_tokens(parts[at].head) + 1
        if tokens < 0:
            break
        heads.add(at)
    return heads


def _nearest_first(text: str, parts: Sequence[OutlinePart], wish: str) -> list[int]:
    """Orders the parts by the words that they share with the wish; rarer words weigh more."""
    wish_words = _words(wish)
    shared = [wish_words & _words(text[part.start : part.end]) for part in parts]
    having = Counter(word for words in shared for word in words)
    worth = {word: math.log(1 + len(parts) / count) for word, count in having.items()}
    return sorted(range(len(parts)), key=lambda at: (-sum(worth[word] for word in shared[at]), at))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _shown(text: str, parts: Sequence[OutlinePart], kept: Set[int], heads: Set[int]) -> str:
    pieces, hidden = list[str](), 0
    for at, part in enumerate(parts):
        if at not in kept:
            hidden += max(part.lines - int(at in heads), 1)
            if at in heads:
                pieces.append(f"{part.head}\n")
            continue
        if hidden:
            pieces.append(HIDDEN.format(count=hidden))
            hidden = 0
        pieces.append(text[part.start : part.end])
    return "".join([*pieces, HIDDEN.format(count=hidden)] if hidden else pieces)
