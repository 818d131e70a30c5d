"""Determines from a file's name and first bytes whether it is accepted, and its media type."""

from __future__ import annotations

from contracts.formats import MEDIA_TYPES, extension, has_extension


def media_type_of(name: str, head: bytes) -> str | None:
    """Returns the media type, None if it is not supported. `head` (first kilobytes) decides without an extension."""
    if known := MEDIA_TYPES.get(extension(name)):
        return known
    if has_extension(name):
        return None
    if head.startswith(b"%PDF-"):
        return MEDIA_TYPES["pdf"]
    if head.startswith(b"{\\rtf"):
        return MEDIA_TYPES["rtf"]
    return "text/plain" if _is_text(head) else None


def _is_text(head: bytes) -> bool:
    """Returns whether this is UTF-8 without NUL; the last character may be incomplete."""
    try:
        head[: max(len(head) - 3, 0)].decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 6:
            return False
    return b"\x00" not in head
