"""Folds near-duplicates: a chunk that adds nothing to a better one is listed with it instead of returned. No IO.

Shingles of three words (Broder 1997, On the Resemblance and Containment of Documents) are compared exactly: for a few
hundred chunks every shingle can be looked up, so nothing is estimated. Chunks that differ in a number, a version
or an identifier with digits say different things, however similar they are otherwise.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

SHINGLE = 3  # words
CONTAINED = 0.9  # share of a chunk's shingles that a better one has
ALIKE = 0.8  # Jaccard similarity

# Chinese, Japanese and Korean write no spaces: each character counts as a word.
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(f"[^\\W{_CJK}]++|[{_CJK}]")
_NUMBER = re.compile(r"(?<![\w.,:/-])[\w.,:/-]*?\d[\w.,:/-]*")  # a token with a digit in it


@dataclass(frozen=True)
class Folded:
    """The chunks that stay, in `order`, best first. `duplicates`: those folded into each of them, best first."""

    order: list[int] = field(default_factory=list)
    duplicates: dict[int, list[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Shingled:
    """A text to compare. `plain`: only the words; `shingles`: their hashes. `numbers` is read only if needed."""

    lowered: str
    plain: str
    shingles: frozenset[int]

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The tokens that have a digit, each once."""
        return frozenset(token.strip(".,:/-") for token in _NUMBER.findall(self.lowered))


class Folding:
    """Takes chunks one by one, the best first."""

    def __init__(self) -> None:
        self.folded = Folded()
        self._kept: dict[int, _Shingled] = {}
        self._same: dict[str, int] = {}
        self._first: dict[int, int] = {}  # by shingle, the first chunk that has it
        self._further: dict[int, list[int]] = {}

    def add(self, chunk: int, text: str) -> int | None:
        """Returns the better chunk that this one is folded into; None if it stays."""
        read = _read(text)
        found = self._duplicate_of(read)
        if found is not None:
            self.folded.duplicates.setdefault(found, []).append(chunk)
            return found
        self.folded.order.append(chunk)
        self._kept[chunk] = read
        self._same.setdefault(read.plain, chunk)
        shared = read.shingles & self._first.keys()
        for shingle in shared:
            self._further.setdefault(shingle, []).append(chunk)
        self._first.update(dict.fromkeys(read.shingles - shared, chunk))
        return None

    def _duplicate_of(self, read: _Shingled) -> int | None:
        same = self._same.get(read.plain)
        if same is not None and self._kept[same].numbers == read.numbers:
            return same
        shared: Counter[int] = Counter()
        for shingle in read.shingles & self._first.keys():
            shared.update((self._first[shingle], *self._further.get(shingle, ())))
        for chunk, count in shared.most_common():
            better = self._kept[chunk]
            contained = count / len(read.shingles)
            alike = count / (len(read.shingles) + len(better.shingles) - count)
            if (contained >= CONTAINED or alike >= ALIKE) and read.numbers <= better.numbers:
                return chunk
        return None


def _read(text: str) -> _Shingled:
    lowered = text.lower()
    words = _WORD.findall(lowered)
    shingles = frozenset(map(hash, zip(*(words[start:] for start in range(SHINGLE)), strict=False)))
    return _Shingled(lowered, " ".join(words), shingles)
