"""Recognises what only says when: "12 March", "Friday at 14:00", "every Tuesday", "9:30 Uhr". No I/O."""

from __future__ import annotations

import re
from datetime import datetime

from memory.facts.dates import WEEKDAYS, resolved

_DAYS = "|".join(WEEKDAYS)
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
    r"|(?:at|um) \d{1,2}(?=[\s.,;!]{0,3}$|,? (?:on|in|am|im|every|each|jede[nrms]?|and|und|sharp|today|tomorrow"
    r"|heute)\b)"
)
_QUARTER = re.compile(r"(?i)(?:in )?(?:the )?q[1-4]\b(?:[ /]\d{4})?")
_AFTER = re.compile(
    r"(?i)[\s,.;!]*(?:$|(?:at|um|from|von|until|till|to|bis|and|und|in|im|on|am|with|mit|for|für|after|before|nach|vor"
    r"|instead|again|now|sharp|\d|[–-])(?=[\s\d]|$))"
)
_REST = re.compile(r"(?i)[\s,]*(?:morning|afternoon|evening|night|vormittag|nachmittag|abend|früh)\b")


def is_moment(text: str, at: datetime, time_zone: str) -> bool:
    """Returns whether the text is a date, a time of day or a repetition, and at most says more about it."""
    text = text.strip()
    end = moment_end(text, at, time_zone)
    return end is not None and bool(_AFTER.match(text, end))


def moment_end(text: str, at: datetime, time_zone: str) -> int | None:
    """Returns where the time ends with which the text begins; None if it does not begin with one."""
    if found := _REPEATED.match(text) or _CLOCK.match(text) or _QUARTER.match(text):
        end = found.end()
    elif (when := resolved(text, at, time_zone, ahead=True)) is not None and _BEGIN.match(text[: when.first]):
        end = when.last
    else:
        return None
    more = _REST.match(text, end)
    return more.end() if more else end
