"""How long to wait before asking again: growing pauses, and what a server's Retry-After header asks for."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MOST_DOUBLINGS = 60  # beyond this, the pause is the longest anyway, and a float could overflow


def backoff(attempt: int, first: float, longest: float) -> float:
    """Returns the seconds to wait after this many failed attempts: `first`, doubled each time, up to `longest`."""
    return min(longest, first * 2.0 ** min(max(0, attempt - 1), MOST_DOUBLINGS))


def retry_after_seconds(value: str | None, now: datetime | None = None) -> float | None:
    """Returns the seconds that a Retry-After header asks for (RFC 9110, 10.2.3: seconds or a date).

    None if there is no header, or it cannot be read.
    """
    if not value:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - (now or datetime.now(UTC))).total_seconds())
