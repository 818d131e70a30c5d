"""Names of months and time zones. No I/O except for the system's table of zones."""

from __future__ import annotations

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memory.errors import TimeZoneUnknown

_ENGLISH = "January February March April May June July August September October November December"
_GERMAN = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
MONTH_NAMES = {"en": _ENGLISH.split(), "de": _GERMAN.split()}
MONTHS = {name.lower(): number for names in MONTH_NAMES.values() for number, name in enumerate(names, 1)}
"""Numbers of months by their English and German names."""


def zone(name: str) -> ZoneInfo:
    """Returns the zone with this IANA name. Raises TimeZoneUnknown."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise TimeZoneUnknown(detail=f"{name!r} is not in the IANA time zone database") from error
