"""Makes callers' file names safe to store, display and offer for download."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePosixPath
from urllib.parse import quote

MAX_CHARACTERS = 200
NAMELESS = "unnamed"


def safe_name(raw: bytes) -> str:
    """Returns the last part of a path in NFC, without control and direction characters, at most MAX_CHARACTERS long.

    Truncation keeps the extension. Bytes that are not UTF-8 become U+FFFD.
    """
    text = unicodedata.normalize("NFC", raw.decode("utf-8", errors="replace"))
    last = re.split(r"[/\\]", text)[-1]
    # Cc: control, Cf: format (direction overrides hide an extension), Cs: surrogates, Zl and Zp: line separators.
    clean = "".join(one for one in last if unicodedata.category(one) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}).strip()
    if not clean.strip("."):
        return NAMELESS
    return _shortened(clean)


def _shortened(name: str) -> str:
    if len(name) <= MAX_CHARACTERS:
        return name
    suffix = PurePosixPath(name).suffix
    if len(suffix) > 20:
        return name[:MAX_CHARACTERS]
    return name[: MAX_CHARACTERS - len(suffix)] + suffix


def attachment(name: str) -> str:
    """Returns the Content-Disposition of a download (RFC 6266): an ASCII name, and the full name in UTF-8."""
    plain = "".join(one if one.isascii() and one.isprintable() and one not in '"\\%;' else "_" for one in name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
