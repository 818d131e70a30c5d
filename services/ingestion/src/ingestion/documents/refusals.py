"""Reasons for which a file is refused."""

from __future__ import annotations

from dataclasses import dataclass

from contracts.formats import SUPPORTED

QUOTA_EXCEEDED = "quota-exceeded"


@dataclass(frozen=True)
class Refused:
    """A refusal. `error` is a stable slug, `message` a sentence for users."""

    error: str
    message: str


def unsupported(name: str) -> Refused:
    reason = "unknown extension" if "." in name else "no extension, and not text"
    return Refused("unsupported-format", f"the format is not supported ({reason}); supported: {', '.join(SUPPORTED)}")
