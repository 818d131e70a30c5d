"""What is remembered of a page, to ask next time whether it changed, and to know its links when it did not."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

MAX_PACKED_CHARACTERS = 8 * 1024
MAX_UNPACKED_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class Fingerprint:
    """`url` is where the redirects led. `etag` and `modified` are the server's validators (RFC 9110, 8.8).

    `links` are packed; None: not remembered. `content_hash` is None while only the validators are known.
    """

    url: str
    name: str
    etag: str | None = None
    modified: str | None = None
    content_hash: str | None = None
    links: str | None = None

    def text(self) -> str:
        """Returns equal texts for equal values."""
        given = {key: value for key, value in asdict(self).items() if value is not None}
        return json.dumps(given, ensure_ascii=False, separators=(",", ":"), sort_keys=True)

    @property
    def conditions(self) -> Mapping[str, str]:
        """Request headers; empty when the server gave no validator."""
        conditions = {"If-None-Match": self.etag, "If-Modified-Since": self.modified}
        return {name: value for name, value in conditions.items() if value is not None}

    @property
    def link_paths(self) -> tuple[str, ...] | None:
        if self.links is None:
            return None
        unpacked = zlib.decompressobj().decompress(base64.b85decode(self.links), MAX_UNPACKED_BYTES)
        return tuple(unpacked.decode().splitlines())


def read_fingerprint(text: str) -> Fingerprint | None:
    """Returns None for another version's text: the page is then read as if for the first time."""
    try:
        return Fingerprint(**json.loads(text))
    except (TypeError, ValueError):
        return None


def packed(paths: Sequence[str]) -> str | None:
    """Returns None when the result would be too long to remember."""
    text = base64.b85encode(zlib.compress("\n".join(paths).encode(), 9)).decode()
    return text if len(text) <= MAX_PACKED_CHARACTERS else None
