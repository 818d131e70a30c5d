"""Dates and expressions of time in questions and messages, in English and German. No I/O."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from memory.times import MONTHS

_MONTH = "|".join(MONTHS)
_ASKS_WHEN = re.compile(
    r"(?i)\bwhen\b|\bhow long\b|\b(?:what|which) (?:date|day|month|year|time)\b|\bhow many (?:days|weeks|months|years)"
    r"\b|\bwann\b|\bwie lange\b|\bseit wann\b|\bwelche[rmns]? (?:datum|tag|monat|jahr)\b"
)
_TIME = re.compile(
    r"(?i)\b(?:yesterday|today|tonight|tomorrow|last|next|ago|weekend|weeks?|months?|years?|days?|since|recently|earlier"
    r"|just|\d{4}|spring|summer|fall|autumn|winter|christmas|birthday|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|gestern|heute|morgen|letzte[nrsm]?|nächste[nrsm]?|wochen?|monate?n?|jahre?n?|tagen?|seit|kürzlich|frühling"
    rf"|sommer|herbst|weihnachten|geburtstag|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|{_MONTH})\b"
)
_DAY_FIRST = re.compile(
    rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of)? (?P<month>{_MONTH})\b(?:,? (?P<year>\d{{4}}))?"
)
_MONTH_FIRST = re.compile(rf"\b(?P<month>{_MONTH})(?: (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b)?(?:,? (?P<year>\d{{4}}))?")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_MAY = re.compile(r"\b(?:in|of|during|since|until|by|early|late|mid|last|im|seit|bis|letzten) (?:may|mai)\b")


@dataclass(frozen=True)
class NamedDate:
    """A day, month or year that a question names; parts that it leaves open are None."""

    year: int | None
    month: int | None
    day: int | None

    def nearness(self, mentioned: date) -> float:
        """Returns 1 on the date itself, less soon afterwards, because people report what has happened, down to 0."""
        if self.month is None:
            return 0.3 * (mentioned.year == self.year)
        year = self.year or mentioned.year
        if self.day is None:
            return {0: 1.0, 1: 0.5}.get((mentioned.year - year) * 12 + mentioned.month - self.month, 0.0)
        try:
            after = (mentioned - date(year, self.month, self.day)).days
        except ValueError:
            return 0.0
        return 1.0 if after == 0 else 0.8 if 0 < after <= 10 else 0.3 if -3 < after <= 31 else 0.0


def named_date(question: str) -> NamedDate | None:
    """Returns the first date in the question. "May" alone is a month only after a preposition."""
    text = question.lower()
    found = _DAY_FIRST.search(text) or _MONTH_FIRST.search(text)
    if found and found["month"] in ("may", "mai") and not found["day"] and not found["year"] and not _MAY.search(text):
        found = None
    if found:
        year, day = found["year"], found["day"]
        return NamedDate(int(year) if year else None, MONTHS[found["month"]], int(day) if day else None)
    mentioned = _YEAR.search(text)
    return NamedDate(int(mentioned[0]), None, None) if mentioned else None


def asks_when(question: str) -> bool:
    """Returns whether the question asks for a time."""
    return bool(_ASKS_WHEN.search(question))


def tells_time(text: str) -> bool:
    """Returns whether the text has an expression of time."""
    return bool(_TIME.search(text))


def asks(text: str) -> bool:
    """Returns whether the text ends in a question, apart from a description in brackets after it."""
    text = text.rstrip()
    if text.endswith("]"):
        text = text[: text.rfind("[")].rstrip() if "[" in text else text
    return text.endswith("?")
