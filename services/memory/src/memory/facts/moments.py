"""Recognises what only says when: "12 March", "Friday at 14:00", "every Tuesday", "9:30 Uhr"; and which day it means.

No I/O.
"""

from __future__ import annotations

import re
from datetime import datetime

from memory.facts.dates import NUMBERS, WEEKDAYS, resolved
from memory.times import MONTH_NAMES

_DAYS = "|".join(WEEKDAYS)
_MANY = rf"(?:\d{{1,3}}|{'|'.join(NUMBERS)})"
_BEGIN = re.compile(
    r"(?i)(?:(?:on|at|in|by|the|a|end|mid|middle|early|late|of|beginning|around|about|am|im|um|bis|zum|den|dem|der"
    r"|first|second|third|last|ersten?|zweiten?|letzten?|anfang|mitte|ende|gegen|ca\.?|kw)[ -])*$"
)
_REPEATED = re.compile(
    rf"(?i)(?:every|each|jede[nrms]?) (?:(?:other|second|first|last|zweiten?|ersten?|letzten?) )?"
    rf"(?:day|morning|evening|week|weekday|month|quarter|tag|morgen|abend|woche|werktag|monat|{_DAYS})s?\b"
    rf"|(?:on )?(?:{_DAYS})s\b|daily\b|weekly\b|monthly\b|täglich\b|wöchentlich\b|monatlich\b"
)
_CLOCK = re.compile(
    r"(?i)(?:at |um |from |von |ab )?(?:noon|midnight|mittags|mitternacht|\d{1,2}:\d\d(?: ?(?:am|pm|uhr))?"
    r"|\d{1,2}(?: ?(?:am|pm|a\.m\.|p\.m\.)| uhr| o'clock))(?=[\s.,;!)–-]|$)"
    r"|(?:at|um) (?:[01]?\d|2[0-4])(?=[\s.,;!]{0,3}$|,? (?:on|in|am|im|every|each|jede[nrms]?|and|und|sharp|today"
    r"|tomorrow|instead|now|again|heute|jetzt)\b)"
)
_FEAST = re.compile(
    r"(?i)(?:(?:until|till|since|before|after|at|over|on|by|in|bis|seit|vor|nach|zu|an|über) )?(?:christmas(?: eve)?"
    r"|xmas|easter|pentecost|thanksgiving|new year(?:'s(?: eve)?)?|weihnachten|heiligabend|silvester|neujahr|ostern"
    r"|pfingsten)\b"
)
_NTH = re.compile(
    r"(?i)(?:(?:on|by|until|am|bis zum|zum) )?(?:the )?(?:(?:\d{1,2}(?:st|nd|rd|th|\.)|first|last|ersten|letzten)"
    r" (?:(?:working|business) day|werktag|arbeitstag)\b|(?<=the )\d{1,2}(?:st|nd|rd|th)(?=[\s.,;!]{0,3}$| of ))"
)
_QUARTER = re.compile(r"(?i)(?:in )?(?:the )?q[1-4]\b(?:[ /]\d{4})?")
_RELATIVE = re.compile(
    rf"(?i)\b(?:today|tonight|tomorrow|yesterday|the day (?:after tomorrow|before yesterday)|heute|gestern|vorgestern"
    rf"|übermorgen|morgen(?! früh\b| abend\b)|(?:this|next|coming|diesen|nächsten|nächste|kommenden|kommende) "
    rf"(?:{_DAYS})|in {_MANY} (?:days?|tage?n?)|{_MANY} days ago|vor {_MANY} tagen"
    rf"|(?P<about>in {_MANY} (?:weeks?|wochen?|months?|monaten?)|{_MANY} (?:weeks|months) ago"
    rf"|vor {_MANY} (?:wochen|monaten)))\b"
)
_AFTER = re.compile(
    r"(?i)[\s,.;!]*(?:$|(?:at|um|from|von|until|till|to|bis|and|und|in|im|on|am|with|mit|for|für|after|before|nach|vor"
    r"|instead|again|now|sharp|\d|[–-])(?=[\s\d.!]|$))"
)
_REST = re.compile(r"(?i)[\s,]*(?:morning|afternoon|evening|night|vormittag|nachmittag|abend|früh)\b")


def is_moment(text: str, at: datetime, time_zone: str) -> bool:
    """Returns whether the text is a date, a time of day or a repetition, and at most says more about it."""
    text = text.strip()
    end = moment_end(text, at, time_zone)
    return end is not None and bool(_AFTER.match(text, end))


def moment_end(text: str, at: datetime, time_zone: str) -> int | None:
    """Returns where the time ends with which the text begins; None if it does not begin with one."""
    if found := _first(text, _REPEATED, _CLOCK, _QUARTER, _NTH, _FEAST):
        end = found.end()
    elif (when := resolved(text, at, time_zone, ahead=True)) is not None and _BEGIN.match(text[: when.first]):
        end = when.last
    else:
        return None
    more = _REST.match(text, end)
    return more.end() if more else end


def day_meant(text: str, at: datetime, time_zone: str, *, german: bool) -> str | None:
    """Returns the day that "tomorrow" or "in three weeks" means in the text; None if it names none in this way."""
    if not (found := _RELATIVE.search(text)) or not (when := resolved(found[0], at, time_zone, ahead=True)):
        return None
    month = MONTH_NAMES["de" if german else "en"][when.start.month - 1]
    day = f"{when.start.day}{'.' if german else ''} {month} {when.start.year}"
    about = "um den " if german else "around "
    return f"{about}{day}" if found["about"] else day


def _first(text: str, *patterns: re.Pattern[str]) -> re.Match[str] | None:
    return next((found for one in patterns if (found := one.match(text))), None)
