"""Resolves English and German expressions of time against the time and zone of their message. No I/O."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from memory.times import MONTHS, zone

WEEKDAYS = {
    name: number
    for names in (
        "monday tuesday wednesday thursday friday saturday sunday",
        "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    )
    for number, name in enumerate(names.split())
}
NUMBERS = {
    name: number
    for names in (
        "one two three four five six seven eight nine ten eleven twelve",
        "einem zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        "a couple",
        "einer",
        "an",
    )
    for number, name in enumerate(names.split(), 1)
}
_DAY_WORDS = {
    "today": 0, "tonight": 0, "last night": -1, "this morning": 0, "heute": 0, "yesterday": -1, "gestern": -1,
    "vorgestern": -2, "the day before yesterday": -2, "tomorrow": 1, "übermorgen": 2, "the day after tomorrow": 2,
}  # fmt: skip
_LAST = frozenset(
    {"last", "past", "letzten", "letzte", "letztes", "letztem", "letzter", "vorigen", "vorige", "voriger"}
)
_NEXT = frozenset(
    {"next", "coming", "nächsten", "nächste", "nächstes", "nächstem", "nächster", "kommenden", "kommende", "kommender"}
)
_UNITS = {
    "day": "day", "days": "day", "tag": "day", "tage": "day", "tagen": "day", "week": "week", "weeks": "week",
    "woche": "week", "wochen": "week", "month": "month", "months": "month", "monat": "month", "monate": "month",
    "monaten": "month", "year": "year", "years": "year", "jahr": "year", "jahre": "year", "jahren": "year",
}  # fmt: skip
_SEASONS = {
    "spring": 3, "frühling": 3, "frühjahr": 3, "summer": 6, "sommer": 6, "autumn": 9, "fall": 9, "herbst": 9,
    "winter": 12,
}  # fmt: skip
"""First months of the three of each season, in the north."""


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_AMOUNT = rf"(?:\d{{1,3}}|{_any(NUMBERS)})"
_BEFORE = r"(?:(?:since|on|in|by|until|till|from|as of|for|at|seit|am|im|ab|bis|zum|vom) )?(?:the )?(?:beginning of )?"
_EXPRESSION = re.compile(
    rf"(?i)\b{_BEFORE}(?:(?P<iso>\d{{4}}-\d{{2}}-\d{{2}})"
    rf"|(?P<word>{_any(_DAY_WORDS)})"
    rf"|(?P<ago>{_AMOUNT}) (?P<ago_unit>{_any(_UNITS)}) ago"
    rf"|vor (?P<vor>{_AMOUNT}) (?P<vor_unit>{_any(_UNITS)})"
    rf"|(?P<which>this|diesen|dieser|diese|dieses|diesem|{_any(_LAST)}|{_any(_NEXT)}) "
    rf"(?P<whole>{_any(WEEKDAYS)}|{_any(MONTHS)}|{_any(_UNITS)}|{_any(_SEASONS)})"
    rf"|(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of)? (?P<month>{_any(MONTHS)})(?:,? (?P<year>\d{{4}}))?"
    rf"|(?P<month2>{_any(MONTHS)}) (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,? (?P<year2>\d{{4}}))?"
    rf"|(?P<dotted>\d{{1,2}}\.\d{{1,2}}\.\d{{4}})"
    rf"|(?P<weekday>{_any(WEEKDAYS)})"
    rf"|(?P<month3>{_any(MONTHS)})(?:,? (?P<year3>\d{{4}}))?"
    rf"|(?P<year4>(?:19|20)\d\d))\b"
)
_AHEAD = re.compile(
    rf"(?i)\bin (?P<amount>{_AMOUNT}) (?P<unit>{_any(_UNITS)})(?: time)?\b"
    r"|\b(?P<tomorrow>(?<!day after )tomorrow|morgen)\b"
)
_DURATION = re.compile(
    rf"(?i)\b(?:for(?: the (?:last|past))?|seit) (?P<amount>{_AMOUNT}) (?P<unit>{_any(_UNITS)})(?: now)?\b"
)
_FROM_THEN_ON = re.compile(r"(?i)^(?:ab|as of|from) ")
_NEEDS_PREPOSITION = re.compile(r"(?i)^(?:may|march)$")


@dataclass(frozen=True)
class ResolvedTime:
    """`start` is when the stated fact began or begins, `end` the end of the day, month or year that was named.

    `phrase` is the wording: characters `first` to `last` of the text.
    """

    start: datetime
    end: datetime
    phrase: str
    first: int
    last: int


def resolved(text: str, said_at: datetime, time_zone: str, *, ahead: bool = False) -> ResolvedTime | None:
    """Returns the first time in the text. A bare month or weekday means the last one, or with `ahead` the next one."""
    local = said_at.astimezone(zone(time_zone))
    today = local.date()
    if found := _AHEAD.search(text):
        if found["tomorrow"]:
            return _time(today + timedelta(1), today + timedelta(2), found, time_zone)
        day = _moved(today, _UNITS[found["unit"].lower()], _number(found["amount"]))
        return _time(day, day + timedelta(1), found, time_zone)
    if found := _DURATION.search(text):
        day = _moved(today, _UNITS[found["unit"].lower()], -_number(found["amount"]))
        return _time(day, day + timedelta(1), found, time_zone)
    for found in _EXPRESSION.finditer(text):
        if _NEEDS_PREPOSITION.match(found[0]):
            continue  # "may" is mostly a verb
        span = _span(found, today, ahead or bool(_FROM_THEN_ON.match(found[0])))
        if span is not None:
            return _time(*span, found, time_zone)
    return None


def _span(found: re.Match[str], today: date, ahead: bool) -> tuple[date, date] | None:
    """Returns the first day, and the day after the last; None if it is not a date."""
    part = {name.rstrip("234"): value.lower() for name, value in found.groupdict().items() if value}
    try:
        return _relative(part, today, ahead) or _calendar(part, today, ahead)
    except ValueError:
        return None


def _relative(part: Mapping[str, str], today: date, ahead: bool) -> tuple[date, date] | None:
    if "word" in part:
        return _one_day(today + timedelta(_DAY_WORDS[part["word"]]))
    for amount, unit in (("ago", "ago_unit"), ("vor", "vor_unit")):
        if amount in part:
            return _one_day(_moved(today, _UNITS[part[unit]], -_number(part[amount])))
    if "which" in part:
        return _which(part["which"], part["whole"], today)
    if "weekday" in part:
        return _which("next" if ahead else "last", part["weekday"], today)
    return None


def _calendar(part: Mapping[str, str], today: date, ahead: bool) -> tuple[date, date]:
    if "iso" in part:
        return _one_day(date.fromisoformat(part["iso"]))
    if "dotted" in part:
        day, month, year = map(int, part["dotted"].split("."))
        return _one_day(date(year, month, day))
    if "month" not in part:
        return date(int(part["year"]), 1, 1), date(int(part["year"]) + 1, 1, 1)
    month, day_text = MONTHS[part["month"]], part.get("day")
    if day_text is None:
        return _month(int(part["year"]) if "year" in part else _nearest(today, month, 1, ahead).year, month)
    if "year" in part:
        return _one_day(date(int(part["year"]), month, int(day_text)))
    return _one_day(_nearest(today, month, int(day_text), ahead))


def _which(which: str, whole: str, today: date) -> tuple[date, date]:
    step = -1 if which in _LAST else 1 if which in _NEXT else 0
    if whole in WEEKDAYS:
        distance = WEEKDAYS[whole] - today.weekday()
        if step < 0:
            return _one_day(today + timedelta(distance if distance < 0 else distance - 7))
        if step > 0:
            return _one_day(today + timedelta(distance if distance > 0 else distance + 7))
        return _one_day(today + timedelta(distance))
    if whole in MONTHS:
        month = MONTHS[whole]
        year = today.year + (step > 0 and month <= today.month) - (step < 0 and month >= today.month)
        return _month(year, month)
    if whole in _SEASONS:
        month = _SEASONS[whole]
        first = date(
            today.year + (step > 0 and month <= today.month) - (step < 0 and month + 3 > today.month), month, 1
        )
        return first, _moved(first, "month", 3)
    unit = _UNITS[whole]
    if unit == "week":
        monday = today - timedelta(today.weekday()) + timedelta(7 * step)
        return monday, monday + timedelta(7)
    if unit == "month":
        day = _moved(today.replace(day=1), "month", step)
        return _month(day.year, day.month)
    if unit == "year":
        return date(today.year + step, 1, 1), date(today.year + step + 1, 1, 1)
    return _one_day(today + timedelta(step))


def _nearest(today: date, month: int, day: int, ahead: bool) -> date:
    """Returns the last such day, or with `ahead` the next one."""
    this_year = date(today.year, month, day)
    if ahead:
        return this_year if this_year >= today else date(today.year + 1, month, day)
    return this_year if this_year <= today else date(today.year - 1, month, day)


def _moved(day: date, unit: str, amount: int) -> date:
    if unit in ("day", "week"):
        return day + timedelta(amount * (7 if unit == "week" else 1))
    months = day.year * 12 + day.month - 1 + amount * (12 if unit == "year" else 1)
    year, month = divmod(months, 12)
    if not 1 <= year <= 9998:
        raise ValueError(f"{day} moved by {amount} {unit}")
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _one_day(day: date) -> tuple[date, date]:
    return day, day + timedelta(1)


def _month(year: int, month: int) -> tuple[date, date]:
    first = date(year, month, 1)
    return first, _moved(first, "month", 1)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else NUMBERS[text.lower()]


def _time(start: date, end: date, found: re.Match[str], time_zone: str) -> ResolvedTime:
    here = zone(time_zone)
    return ResolvedTime(
        datetime.combine(start, time.min, here), datetime.combine(end, time.min, here), found[0], *found.span()
    )
