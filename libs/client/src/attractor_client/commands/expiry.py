"""Parses expiry times as people write them: `90d`, `12h`, `2027-06-30`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

EXPIRES = "When it expires: 12h, 90d, 8w, or a date such as 2027-06-30 (at its start, local time)."
AFTER = re.compile(r"([0-9]{1,5})([hdw])", re.ASCII)
UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def moment(text: str, now: datetime | None = None) -> datetime:
    """Returns the time that the text means. Raises ValueError if it is not valid."""
    if after := AFTER.fullmatch(text.strip()):
        return (now or datetime.now(UTC)) + int(after[1]) * UNITS[after[2]]
    try:
        return datetime.fromisoformat(text.strip()).astimezone()
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{text!r} is no time; expected one like 12h, 90d, 8w or 2027-06-30") from error
