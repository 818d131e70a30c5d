"""Finds what mentions a text, and removes it from JSON. No I/O."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import Any

GONE = object()


@dataclass(frozen=True)
class Mentions:
    """Finds a text at the start of a word, ignoring case: "Ann" is in "Anna's", but not in "planning".

    A letter with an accent is found in one character or two, and "ß" as "ss".
    """

    text: str

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        words = _folded(self.text).split()
        if re.match(r"\w", self.text):
            return re.compile(r"(?<!\w)" + r"\s+".join(map(re.escape, words)))
        return re.compile(r"\s+".join(map(re.escape, words)))

    @property
    def like(self) -> str:
        """Returns an ILIKE pattern for candidates: PostgreSQL may not fold what is a wildcard in it."""
        letters = _folded(self.text).replace("ss", "ß")
        known = "".join(f"\\{one}" if one in "\\%_" else one if one.isascii() else "%" for one in letters)
        return f"%{'%'.join(known.split())}%"

    def are_in(self, text: str) -> bool:
        return self._pattern.search(_folded(text)) is not None

    def are_within(self, value: Any) -> bool:
        """Returns whether a text or a key in a JSON value mentions it."""
        return self.without(value) is not value

    def without(self, value: Any) -> Any:
        """Returns the value without texts, items and keys that mention it; GONE if it is one, itself if none is."""
        if isinstance(value, str):
            return GONE if self.are_in(value) else value
        if isinstance(value, list):
            items = [self.without(one) for one in value]
            kept = [one for one in items if one is not GONE]
            return value if len(kept) == len(value) and all(a is b for a, b in zip(kept, value, strict=True)) else kept
        if isinstance(value, dict):
            fields = {key: GONE if self.are_in(key) else self.without(one) for key, one in value.items()}
            if all(one is value[key] for key, one in fields.items()):
                return value
            return {key: one for key, one in fields.items() if one is not GONE}
        return value


def _folded(text: str) -> str:
    """Returns the text in one spelling of its letters."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
