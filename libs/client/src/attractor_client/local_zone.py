"""The time zone of this machine, by its IANA name."""

from __future__ import annotations

import os
from pathlib import Path
from zoneinfo import ZoneInfo

UTC = "UTC"
_LOCALTIME = Path("/etc/localtime")


def local_zone() -> str:
    """Returns the zone in TZ, else the system's; UTC if it has no name."""
    named = os.environ.get("TZ", "").removeprefix(":")
    if not named and _LOCALTIME.is_symlink():
        named = str(_LOCALTIME.resolve()).partition("zoneinfo/")[2]
    try:
        return ZoneInfo(named).key if named else UTC
    except (ValueError, OSError, KeyError):
        return UTC
