"""Parts of a file, and whether the caller has it already (RFC 9110, sections 13 and 14). Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ingestion.documents.errors import RangeNotSatisfiable

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


@dataclass(frozen=True)
class ByteRange:
    """Bytes `start` to `end`, without `end`."""

    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start


def is_known(if_none_match: str | None, etag: str) -> bool:
    """Returns whether the caller has the file with this ETag."""
    if if_none_match is None:
        return False
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return etag in tags or tags == ["*"]


def wanted_range(header: str | None, if_range: str | None, etag: str, size: int) -> ByteRange | None:
    """Returns the part that is asked for; None for the whole file.

    Several parts, other units, and a part of another version (`If-Range`) are answered with the whole. Raises
    RangeNotSatisfiable.
    """
    found = _RANGE.fullmatch(header.strip()) if header else None
    if found is None or found[1] == found[2] == "" or (if_range is not None and if_range.strip() != etag):
        return None
    if not found[1]:  # the last bytes
        part = ByteRange(max(size - int(found[2]), 0), size)
    else:
        part = ByteRange(int(found[1]), min(int(found[2]) + 1, size) if found[2] else size)
        if found[2] and int(found[2]) < int(found[1]):
            return None
    if part.length <= 0:
        raise RangeNotSatisfiable(headers={"Content-Range": f"bytes */{size}"})
    return part
