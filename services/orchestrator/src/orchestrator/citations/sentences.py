"""Cuts text into sentences and terms, well enough to find the sentence of a passage that supports a claim."""

from __future__ import annotations

import re
from importlib.resources import files

# A sentence ends at a mark followed by space, or where the line does: a list item, a table row, a line of code.
_END = re.compile(r"(?:[.!?…]+[\"'”’»)\]]*(?=\s))|[。！？]+[”’」』）]*|\n+")
_WORD = re.compile(r"[^\W_]+", re.UNICODE)
# Scripts that do not put spaces between words are compared by pairs of characters.
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]+")
_STOP = frozenset(files("orchestrator.citations").joinpath("stop_words.txt").read_text("utf-8").split())


def sentences(text: str) -> list[tuple[int, int]]:
    """Returns the sentences as spans (start, end) without the white space around them, in order."""
    ends = [match.end() for match in _END.finditer(text)]
    spans, start = [], 0
    for end in [*ends, len(text)]:
        piece = text[start:end]
        first = start + len(piece) - len(piece.lstrip())
        last = start + len(piece.rstrip())
        if last > first:
            spans.append((first, last))
        start = end
    return spans


def terms(text: str) -> frozenset[str]:
    """Returns the words that carry meaning: lower case, without endings, without function words."""
    found: set[str] = set()
    for word in _WORD.findall(text.lower()):
        for run in _UNSPACED.findall(word):
            found.update(run[at : at + 2] for at in range(max(1, len(run) - 1)))
        spaced = _UNSPACED.sub("", word)
        if spaced and spaced not in _STOP and (len(spaced) > 1 or spaced.isdigit()):
            found.add(_stem(spaced))
    return frozenset(found)


def _stem(word: str) -> str:
    """Cuts endings off, so that expire, expires, expired and expiring meet."""
    for suffix, instead in (("ies", "i"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("e", ""), ("y", "i")):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word.removesuffix(suffix) + instead
    return word
