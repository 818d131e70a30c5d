"""Parses dates in sentences and headers with the precision they have: 2024, 2024-06 or 2024-06-28. Pure."""

from __future__ import annotations

import re

from knowledge_graph.extraction.word_lists import equations

MONTHS = {name: number for names, number in equations("months") for name in names}
MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
YEAR = r"((?:19|20)\d\d)"
DATE = re.compile(
    rf"(?<![\w.-]){YEAR}-(\d\d)(?:-(\d\d))?(?!\d)"
    rf"|(?<!\w)(?:(\d{{1,2}})(?:\.|st|nd|rd|th)? )?({MONTH})\.? (?:(\d{{1,2}})(?:st|nd|rd|th)?, )?{YEAR}(?!\w)"
    rf"|(?<![\w.])(\d{{1,2}})\.(\d{{1,2}})\.{YEAR}(?!\w)"
    rf"|(?<!\w)(?:since|until|till|in|from|by|before|of|after|seit|bis|ab|im jahr|im frühjahr|im sommer|im herbst|"
    rf"im winter|frühjahr|sommer|herbst|winter|spring|summer|autumn|fall) {YEAR}(?![\w-])",
    re.IGNORECASE,
)
DATE_IN_NAME = re.compile(rf"(?<!\d){YEAR}-?(\d\d)(?:-?(\d\d))?(?!\d)")


def date_in_name(name: str) -> str | None:
    """Returns the date in a file name: 2026-02-11-architecture.md, planning-2026-01.docx."""
    found = DATE_IN_NAME.search(name)
    return _written(*found.groups()) if found else None


def first_date(text: str) -> str | None:
    """Returns the first date in the text; None if there is none, or if it is not a valid date."""
    found = DATE.search(" ".join(text.split()))
    if found is None:
        return None
    return _written(*_parts(found))


def _written(year: str, month: str | None, day: str | None) -> str | None:
    if month and not 1 <= int(month) <= 12:
        return None
    if day and not 1 <= int(day) <= 31:
        return None
    return "-".join([year, *(f"{int(part):02}" for part in (month, day) if part)])


def _parts(found: re.Match[str]) -> tuple[str, str | None, str | None]:
    iso_year, iso_month, iso_day, before, month, after, named_year, day, number, dotted_year, year = found.groups()
    if iso_year:
        return iso_year, iso_month, iso_day
    if named_year:
        return named_year, MONTHS[month.casefold()], before or after
    return (dotted_year, number, day) if dotted_year else (year, None, None)
