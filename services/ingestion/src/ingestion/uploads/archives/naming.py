"""Decides which members become documents, and under which path."""

from __future__ import annotations

import re

from contracts.formats import is_archive, may_be_supported
from ingestion.documents.file_names import safe_name
from ingestion.documents.refusals import Refused, unsupported

LONGEST_PATH, NAMELESS_PATH = 800, "unnamed"


def member_path(raw: str) -> str | Refused:
    """Returns the path within the archive, with slashes; rejects paths that lead out of it."""
    parts = [part for part in re.split(r"[/\\]", raw) if part not in {"", "."}]
    if raw.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", raw) or ".." in parts or not parts:
        return Refused("unsafe-path", "its path leads out of the archive")
    path = "/".join(safe_name(part.encode("utf-8", "surrogateescape")) for part in parts)
    return path if len(path) <= LONGEST_PATH else Refused("unsafe-path", "its path is too long")


def refusal(path: str) -> Refused | None:
    """Rejects a member by its path alone, before it is expanded."""
    name = path.rsplit("/", 1)[-1]
    if path.startswith("__MACOSX/") or name.startswith("._"):
        return Refused("not-a-file", "it is metadata of the system that made the archive")
    if is_archive(name):
        return Refused("nested-archive", "an archive within an archive is not expanded")
    return None if may_be_supported(name) else unsupported(name)
