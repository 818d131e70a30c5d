"""The part of a text that shows why it was found. Pure."""

from __future__ import annotations

import re
import unicodedata

BEFORE, LENGTH = 60, 200
LAST_FOLDED = 0x52F  # Latin, Greek and Cyrillic


def _folding() -> dict[int, str]:
    """Maps letters one to one to their form without case and accents, so that positions in the text stay the same."""
    lowered = ((code, chr(code).lower()) for code in range(LAST_FOLDED + 1))
    return {code: unicodedata.normalize("NFD", letter)[0] for code, letter in lowered if len(letter) == 1}


FOLDED = _folding()
WORD = re.compile(r"\w+")


def snippet(content: str, query: str) -> str:
    """Returns about 200 characters on one line, from shortly before the query's longest word, or from the beginning."""
    wanted = (word for part in query.split() if not part.startswith("-") for word in WORD.findall(part))
    at = _place(content.translate(FOLDED), max(wanted, key=len, default="").translate(FOLDED))
    start = max(at - BEFORE, 0)
    if start:
        start = content.find(" ", start, at) + 1 or at
    end = start + LENGTH
    if end < len(content):
        end = max(content.rfind(" ", start, end), at + BEFORE)
    middle = " ".join(content[start:end].split())
    return f"{'…' if start else ''}{middle}{'…' if end < len(content) else ''}"


def _place(text: str, word: str) -> int:
    """Returns the position of a word that begins with `word`; 0 if there is none."""
    at = text.find(word)
    while at > 0 and text[at - 1].isalnum():
        at = text.find(word, at + 1)
    return max(at, 0)
