"""Finds members of a series (PEP 572, RFC-9110, `adr-011`), and questions for an overview of one. No IO."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TypeAlias

# Names of files have the series in small letters and the number with zeros (pep-0572.rst).
_IN_CAPITALS = re.compile(r"(?<![^\W_])([A-Z]{2,10})[ _-]?0{0,6}([1-9]\d{0,6})(?![^\W_])")
_IN_ANY_CASE = re.compile(_IN_CAPITALS.pattern, re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_OVERVIEW = frozenset(files("relevance").joinpath("overview.txt").read_text("utf-8").split())
Designator: TypeAlias = tuple[str, str]  # the series in small letters, and the number without leading zeros


def designators(text: str, *, in_capitals: bool = False) -> frozenset[Designator]:
    """Returns whatever in a text looks like a member of a series, or only what is written in capitals."""
    pattern = _IN_CAPITALS if in_capitals else _IN_ANY_CASE
    return frozenset((series.casefold(), number) for series, number in pattern.findall(text))


def asks_for_overview(question: str) -> bool:
    """Returns whether the question says nothing but a designator and that an overview of it is wanted."""
    rest, found = _IN_ANY_CASE.subn(" ", question)
    return bool(found) and {word.casefold() for word in _WORD.findall(rest)} <= _OVERVIEW


def subject_of_overview(question: str) -> str:
    """Returns the question without the words that only ask for an overview, "" if it has none of them.

    "Tell me about the Zen of Python" is about "Zen Python".
    """
    words = _WORD.findall(question)
    subject = [word for word in words if word.casefold() not in _OVERVIEW]
    return " ".join(subject) if len(subject) < len(words) else ""
