"""Parses the numbers of a text with their units, so that 1.5 million is 1,500,000 and 10 % is not 10 points."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

# A number has at most a dozen groups; anything longer is a row of numbers.
_FOUND = re.compile(r"(?<![\w.,])(?<![^\W\d_]-)([$€£]?)(\d{1,40}(?:[.,'’]\d{1,20}){0,12})|\b([^\W\d_]{3,12})\b")
_AFTER = re.compile(r"[\s\u00a0-]?(%|[^\W\d_]{1,15}|°C)(?:\s([^\W\d_]{1,15}))?")
_THOUSANDS = re.compile(r"\d{1,3}(?:([.,'’])\d{3})(?:\1\d{3}){0,11}")
_ROUGHLY = re.compile(
    r"\b(?:about|around|approximately|roughly|nearly|almost|over|circa|ca|some|etwa|rund|ungefähr|fast|knapp|gut)\.?\s$",
    re.I,
)
_ENGLISH = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_GERMAN = (
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn"
    " achtzehn neunzehn"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety hundred"
_ZEHNER = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert"
SPELLED: dict[str, int] = {
    **{word: value for words in (_ENGLISH, _GERMAN) for value, word in enumerate(words.split())},
    **{
        word: value for words in (_TENS, _ZEHNER) for value, word in zip(range(20, 101, 10), words.split(), strict=True)
    },
}
_SCALES = {
    **dict.fromkeys(("thousand", "tausend", "tsd"), 1e3),
    **dict.fromkeys(("million", "millions", "millionen", "mio"), 1e6),
    **dict.fromkeys(("billion", "billions", "milliarde", "milliarden", "mrd", "bn"), 1e9),
}
# unit: the quantity that it measures, and its size
_UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("%", "percent", "prozent"), ("percent", 1)),
    **dict.fromkeys(("point", "points", "prozentpunkt", "prozentpunkte", "prozentpunkten"), ("points", 1)),
    **dict.fromkeys(("ms", "millisecond", "milliseconds", "millisekunden"), ("time", 0.001)),
    **dict.fromkeys(("s", "sec", "second", "seconds", "sekunde", "sekunden"), ("time", 1)),
    **dict.fromkeys(("min", "minute", "minutes", "minuten"), ("time", 60)),
    **dict.fromkeys(("h", "hour", "hours", "stunde", "stunden"), ("time", 3600)),
    **dict.fromkeys(("day", "days", "tag", "tage", "tagen"), ("time", 86_400)),
    **dict.fromkeys(("week", "weeks", "woche", "wochen"), ("time", 604_800)),
    **dict.fromkeys(("month", "months", "monat", "monate", "monaten"), ("months", 1)),
    **dict.fromkeys(("year", "years", "jahr", "jahre", "jahren"), ("months", 12)),
    **dict.fromkeys(("kb", "kilobyte", "kilobytes"), ("bytes", 1e3)),
    **dict.fromkeys(("mb", "megabyte", "megabytes"), ("bytes", 1e6)),
    **dict.fromkeys(("gb", "gigabyte", "gigabytes"), ("bytes", 1e9)),
    **dict.fromkeys(("tb", "terabyte", "terabytes"), ("bytes", 1e12)),
    **dict.fromkeys(("mg", "milligram", "milligrams", "milligramm"), ("mass", 0.001)),
    **dict.fromkeys(("g", "gram", "grams", "gramm"), ("mass", 1)),
    **dict.fromkeys(("kg", "kilogram", "kilograms", "kilogramm"), ("mass", 1000)),
    **dict.fromkeys(("mm",), ("length", 0.001)),
    **dict.fromkeys(("cm",), ("length", 0.01)),
    **dict.fromkeys(("metre", "metres", "meter", "meters", "metern"), ("length", 1)),
    **dict.fromkeys(("km", "kilometre", "kilometres", "kilometer", "kilometers", "kilometern"), ("length", 1000)),
    **dict.fromkeys(("$", "usd", "dollar", "dollars"), ("dollars", 1)),
    **dict.fromkeys(("€", "eur", "euro", "euros"), ("euros", 1)),
    **dict.fromkeys(("£", "gbp", "pounds"), ("pounds", 1)),
}


# Words that belong to a number; they are compared with it.
UNIT_WORDS = frozenset([*_UNITS, *_SCALES])


@dataclass(frozen=True)
class Number:
    """A number as written; `values` are its possible readings (1.500 may be 1.5), `unit` its unit, if known."""

    text: str
    start: int
    values: tuple[float, ...]
    unit: str
    spelled: bool
    roughly: bool
    decimals: int


class Numbers:
    """The numbers of a source, ready to be compared."""

    def __init__(self, found: Sequence[Number]) -> None:
        self._units: dict[float, set[str]] = {}
        for one in found:
            for value in one.values:
                self._units.setdefault(_rounded(value), set()).add(one.unit)
        self._values = sorted(self._units)

    def has(self, number: Number) -> bool:
        """Returns whether the source has the number: equal in a compatible unit, or correctly rounded."""
        return any(self._has(number, value) for value in number.values)

    def _has(self, number: Number, value: float) -> bool:
        if self._fits(number, _rounded(value)):
            return True
        if number.spelled or (abs(value) < 10 and not number.decimals and not number.roughly):
            return False
        away = abs(value) * 0.05 if number.roughly else min(0.5 * 10.0**-number.decimals, abs(value) * 0.05)
        first, last = bisect_left(self._values, value - away), bisect_left(self._values, value + away)
        near = self._values[first : min(last, first + 8)]
        return any(self._fits(number, one) for one in near if number.roughly or one % 1)

    def _fits(self, number: Number, value: float) -> bool:
        units = self._units.get(value, set())
        return bool(units) and (not number.unit or "" in units or number.unit in units)


def numbers(text: str) -> list[Number]:
    """Returns the standalone numbers; those within names (GPT4) belong to the name."""
    found = []
    for match in _FOUND.finditer(text):
        sign, digits, word = match.groups()
        if word:
            if word.lower() in SPELLED:
                found.append(_number(text, match.start(), match.end(), (float(SPELLED[word.lower()]),), "", True, 0))
        elif not text[match.end() : match.end() + 1].isalpha() or _AFTER.match(text, match.end()):
            values = _readings(digits)
            decimals = 0 if _THOUSANDS.fullmatch(digits) else len(re.split(r"[.,]", digits)[-1]) if len(values) else 0
            decimals = decimals if re.search(r"[.,]", digits) else 0
            found.append(_number(text, match.start(), match.end(), values, sign, False, decimals))
    return found


def _number(
    text: str, start: int, end: int, values: tuple[float, ...], sign: str, spelled: bool, decimals: int
) -> Number:
    unit, factor = _UNITS.get(sign, ("", 1.0))
    after = _AFTER.match(text, end)
    words = [part.lower() for part in after.groups() if part] if after else []
    for word, following in pairwise([*words, ""]):
        if word in _SCALES:
            factor *= _SCALES[word]
            decimals = 0
            continue
        if word in ("percentage", "percent") and following.startswith("point"):
            word = "points"
        if word in _UNITS and not unit:
            unit, scale = _UNITS[word]
            factor *= scale
            decimals = decimals if scale == 1 else 0
        break
    roughly = bool(_ROUGHLY.search(text[max(0, start - 16) : start]))
    return Number(text[start:end], start, tuple(value * factor for value in values), unit, spelled, roughly, decimals)


def _readings(digits: str) -> tuple[float, ...]:
    """Returns the possible values: 1,500 is 1500 or (in German) 1.5; 1.2.3 is a version."""
    if digits.isdigit():
        return (float(digits),)
    found = []
    if _THOUSANDS.fullmatch(digits):
        found.append(float(re.sub(r"[.,'’]", "", digits)))
    for point, group in ((".", ","), (",", ".")):
        whole, _, part = digits.rpartition(point)
        if part.isdigit() and (whole.isdigit() or (group in whole and _THOUSANDS.fullmatch(whole))):
            found.append(float(f"{re.sub(r'[^0-9]', '', whole)}.{part}"))
    return tuple(dict.fromkeys(found)) or (float(re.sub(r"[^0-9]", "", digits)) + 0.123456,)


def _rounded(value: float) -> float:
    return float(f"{value:.9g}")
