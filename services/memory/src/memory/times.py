"""Names of months and time zones. No IO but the system's table of zones."""

from __future__ import annotations

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memory.errors import TimeZoneUnknown

MONTHS = {
    name: number
    for names in (
        "january february march april may june july august september october november december",
        "januar februar märz april mai juni juli august september oktober november dezember",
    )
    for number, name in enumerate(names.split(), 1)
}
"""Numbers of months by their English and German names."""


def zone(name: str) -> ZoneInfo:
    """Returns the zone with this IANA name. Raises TimeZoneUnknown."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise TimeZoneUnknown(detail=f"{name!r} is not in the IANA time zone database") from error
