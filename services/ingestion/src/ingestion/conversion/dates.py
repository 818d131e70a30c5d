"""Reads dates and times as documents write them."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, timezone
from email.utils import parsedate_to_datetime

PDF_TIME = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:(Z)|([+-])(\d\d)'?(\d\d)?)?")
PATTERNS = (
    "%d-%b-%Y",
    "%d-%B-%Y",
    "%Y/%m/%d",
    "%Y-%m-%d %H:%M:%S %z",
    "%Y-%m-%d %H:%M",
    "%B %d, %Y",
    "%b %d, %Y",
    "%d %B %Y",
    "%d %b %Y",
    "%d.%m.%Y",
)
LONGEST = 64  # characters


def point_in_time(value: object) -> datetime | None:
    """Returns a time with a zone (UTC if none is given); None for anything coarser than a day, such as a year.

    Reads ISO 8601, RFC 5322, the PDF format, and a few formats that people use.
    """
    if isinstance(value, datetime):
        return _zoned(value)
    if isinstance(value, date):
        return _zoned(datetime.combine(value, time()))
    text = " ".join(value.split()) if isinstance(value, str) else ""
    if not 8 <= len(text) <= LONGEST:
        return None
    if text.startswith("D:"):
        return _pdf_time(text)
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return _zoned(read(text))
        except ValueError:
            continue
    for pattern in PATTERNS:
        try:
            return _zoned(datetime.strptime(text, pattern))
        except ValueError:
            continue
    return None


def _zoned(moment: datetime) -> datetime | None:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except (OverflowError, ValueError):  # within a day of the year 1 or 9999
        return None


def _pdf_time(text: str) -> datetime | None:
    """Reads a PDF date (ISO 32000-1, 7.9.4), in which everything after the year is optional; None without a day."""
    found = PDF_TIME.match(text)
    if found is None or found[2] is None or found[3] is None:
        return None
    shift = timedelta(hours=int(found[9] or 0), minutes=int(found[10] or 0))
    try:
        zone = timezone(-shift if found[8] == "-" else shift)
        hour, minute, second = (int(found[number] or 0) for number in range(4, 7))
        return _zoned(datetime(int(found[1]), int(found[2]), int(found[3]), hour, minute, second, tzinfo=zone))
    except ValueError:
        return None
