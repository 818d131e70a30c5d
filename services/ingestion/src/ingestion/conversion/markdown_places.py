"""Finds passages in the Markdown of their document, so that it can be opened there.

A passage of a structured document is written apart from the Markdown, with other spaces, padding and marks. So letters
and digits are compared.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, takewhile

Span = tuple[int, int]

WORD = re.compile(r"[^\W_]++")
TABLE_RULE = re.compile(r"^\|(?:[ :]*+-[-: ]*+\|)++[^\S\n]*+\n", re.MULTILINE)
TELLING = 24  # letters at an end of a passage that hardly occur there by chance
GROWN = 2  # times as long as the passage, if it is written otherwise in between, with addresses of links for instance


def markdown_places(contents: Sequence[str], markdown: str) -> list[Span | None]:
    """Returns where each passage begins and ends in the Markdown, in characters; None where that is not certain.

    The passages are in reading order. They may overlap, and may repeat the header of the table that they are a part
    of, which then does not belong to the place.
    """
    page = _LettersInPlace(markdown)
    before, found = (0, 0), list[Span | None]()
    for content in contents:
        passage = _LettersInPlace(content)
        own = page.place_of(passage, before)
        if own is None and (header := TABLE_RULE.search(content)):
            passage = _LettersInPlace(content[header.end() :])
            own = page.place_of(passage, before)
        own = own or page.place_between_ends(passage, before)
        before = own or before
        found.append(page.outside(own, passage) if own else None)
    return found


class _LettersInPlace:
    """The letters and digits of a text, and where each word of them is."""

    def __init__(self, text: str) -> None:
        self.text = text
        words = list(WORD.finditer(text))
        self.letters = "".join(word[0] for word in words)
        self._begins = [word.start() for word in words]
        self._totals = list(accumulate((len(word[0]) for word in words), initial=0))

    def place_of(self, passage: _LettersInPlace, before: Span) -> Span | None:
        """Returns the letters at which the passage is; `before` are those of the passage before it."""
        wanted = passage.letters
        if not wanted:
            return None
        starts = self._starts(wanted, before)
        beyond = [at for at in starts if at + len(wanted) > before[1]]  # or else a repetition of words just read
        first = next(iter(beyond or starts), None)
        return None if first is None else (first, first + len(wanted))

    def place_between_ends(self, passage: _LettersInPlace, before: Span) -> Span | None:
        """Returns the letters that begin and end like the passage, and may differ from it in between."""
        wanted = passage.letters
        if len(wanted) < 2 * TELLING or (start := self._find(wanted[:TELLING], before[1])) < 0:
            return None
        end = self.letters.find(wanted[-TELLING:], start + len(wanted) // GROWN, start + GROWN * len(wanted))
        return None if end < 0 else (start, end + TELLING)

    def outside(self, letters: Span, passage: _LettersInPlace) -> Span:
        """Returns the characters of these letters, with the marks around them that the passage has as well."""
        start, end = self._character(letters[0]), self._character(letters[1] - 1) + 1
        first, last = passage._character(0), passage._character(len(passage.letters) - 1) + 1
        lead = _alike(self.text[max(start - first, 0) : start][::-1], passage.text[:first][::-1])
        tail = _alike(self.text[end : end + len(passage.text)], passage.text[last:])
        return start - len(lead), end + len(tail.rstrip())

    def _starts(self, wanted: str, before: Span) -> list[int]:
        """Returns the first places after the beginning and the end of the passage before, or else the only one."""
        following = [at for earliest in before if (at := self._find(wanted, earliest)) >= 0]
        if following or (at := self._find(wanted, 0)) < 0:
            return following
        return [] if self._find(wanted, at + 1) >= 0 else [at]

    def _find(self, wanted: str, earliest: int) -> int:
        """Returns where the letters are, of short ones where they are whole words; -1 if nowhere."""
        at = self.letters.find(wanted, earliest)
        while at >= 0 and len(wanted) < TELLING and not (self._parts(at) and self._parts(at + len(wanted))):
            at = self.letters.find(wanted, at + 1)
        return at

    def _parts(self, letter: int) -> bool:
        """Returns whether a word begins with the letter, or the text ends before it."""
        return self._totals[bisect_right(self._totals, letter) - 1] == letter

    def _character(self, letter: int) -> int:
        """Returns the place of a letter in the text."""
        word = bisect_right(self._totals, letter) - 1
        return self._begins[word] + letter - self._totals[word]


def _alike(one: str, other: str) -> str:
    """Returns the characters that both texts begin with."""
    return "".join(pair[0] for pair in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
