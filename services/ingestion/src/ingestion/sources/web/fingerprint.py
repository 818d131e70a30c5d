"""The fingerprint of a page, to check next time whether it has changed, and to know its links if it has not."""

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
    """`url` is the final URL. `etag` and `modified` are the server's validators (RFC 9110, 8.8).

    `links` are packed, None if they were not kept. `content_hash` is None while only the validators are known.
    """

    url: str
    name: str
    etag: str | None = None
    modified: str | None = None
    content_hash: str | None = None
    links: str | None = None

    def text(self) -> str:
        """Returns the fingerprint as text; equal values give equal texts."""
        given = {key: value for key, value in asdict(self).items() if value is not None}
        return json.dumps(given, ensure_ascii=False, separators=(",", ":"), sort_keys=True)

    @property
    def conditions(self) -> Mapping[str, str]:
        """The headers of a conditional request; empty if the server gave no validator."""
        conditions = {"If-None-Match": self.etag, "If-Modified-Since": self.modified}
        return {name: value for name, value in conditions.items() if value is not None}

    @property
    def link_paths(self) -> tuple[str, ...] | None:
        if self.links is None:
            return None
        unpacked = zlib.decompressobj().decompress(base64.b85decode(self.links), MAX_UNPACKED_BYTES)
        return tuple(unpacked.decode().splitlines())


def read_fingerprint(text: str) -> Fingerprint | None:
    """Parses `text`; returns None for the format of another version, so that the page is read in full."""
    try:
        return Fingerprint(**json.loads(text))
    except (TypeError, ValueError):
        return None


def packed(paths: Sequence[str]) -> str | None:
    """Compresses paths; returns None if the result is too long to keep."""
    text = base64.b85encode(zlib.compress("\n".join(paths).encode(), 9)).decode()
    return text if len(text) <= MAX_PACKED_CHARACTERS else None
