"""Maps paths to services. Pure.

A path that could mean a different one after decoding (dot segments, empty segments, encoded slashes, backslashes,
control characters) is rejected here. Below a prefix whose names contain slashes, an encoded one is a slash.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import unquote_to_bytes

from contracts.registry import KNOWLEDGE_GRAPH, ORCHESTRATOR, RETRIEVAL
from service_kit.tokens import LIFETIME, LONGEST_DELEGATION


@dataclass(frozen=True)
class Prefix:
    """`path` and everything below it. With `uploads`, bodies that are not JSON may have the size of a file, with
    `uploads_at` only on paths with this ending. With `images`, JSON may contain images in base64. With `searches`, a
    request's cost depends on its body.

    With `every_workspace`, the service also learns the other workspaces of a caller whose key covers them, for
    requests that may change something.
    With `slashes`, names below it may contain slashes: clients send `attractor/NAME` as one encoded segment.
    `actors` may then call other services for the user, for the time `lasting`, as a run outlives its request.
    """

    path: str
    service: str
    uploads: bool = False
    uploads_at: str | None = None
    images: bool = False
    searches: bool = False
    every_workspace: bool = False
    slashes: bool = False
    actors: tuple[str, ...] = ()
    lasting: timedelta = LIFETIME

    def covers(self, path: str) -> bool:
        return path == self.path or path.startswith(f"{self.path}/")

    def takes_files(self, path: str) -> bool:
        """Returns whether a file may be uploaded to the path, which must be below the prefix."""
        return self.uploads or (self.uploads_at is not None and path.endswith(self.uploads_at))


RUN_ACTORS = (ORCHESTRATOR, RETRIEVAL)
TABLE = (
    Prefix("/v1/documents", "ingestion", uploads=True),
    Prefix("/v1/sources", "ingestion", uploads=True),
    Prefix("/v1/quota", "ingestion"),
    Prefix("/v1/search", "retrieval", searches=True, every_workspace=True, actors=(RETRIEVAL,)),
    Prefix("/v1/context", "retrieval", searches=True, every_workspace=True, actors=(RETRIEVAL,)),
    Prefix("/v1/search-settings", "retrieval"),
    Prefix("/v1/embedding-spaces", "retrieval"),
    Prefix("/v1/graph/triples", "knowledge-graph", uploads=True),
    Prefix("/v1/graph/tools", "knowledge-graph", actors=(KNOWLEDGE_GRAPH, RETRIEVAL)),
    Prefix("/v1/graph", "knowledge-graph"),
    Prefix("/v1/memories", "memory"),
    Prefix("/v1/world", "memory"),
    Prefix(
        "/v1/sessions",
        "orchestrator",
        uploads_at="/attachments",
        every_workspace=True,
        actors=RUN_ACTORS,
        lasting=LONGEST_DELEGATION,
    ),
    Prefix("/v1/messages", "orchestrator", every_workspace=True, actors=RUN_ACTORS, lasting=LONGEST_DELEGATION),
    Prefix("/v1/chat/completions", "orchestrator", images=True, actors=RUN_ACTORS, lasting=LONGEST_DELEGATION),
    Prefix("/v1/responses", "orchestrator", images=True, actors=RUN_ACTORS, lasting=LONGEST_DELEGATION),
    Prefix("/v1/embeddings", "retrieval"),
    Prefix("/v1/models", "orchestrator", slashes=True),
    Prefix("/v1/runs", "orchestrator", every_workspace=True, actors=RUN_ACTORS, lasting=LONGEST_DELEGATION),
    Prefix("/v1/feedback", "orchestrator"),
    Prefix("/v1/usage", "orchestrator"),
    Prefix("/v1/settings", "orchestrator"),
    Prefix("/v1/presets", "orchestrator"),
    Prefix("/v1/shares", "orchestrator"),
    Prefix("/v1/sharing", "orchestrator"),
    Prefix("/v1/quick-actions", "orchestrator"),
    Prefix("/v1/graphs", "orchestrator"),
)
ENCODED_SLASH = re.compile(rb"%2f", re.IGNORECASE)
ENCODED_SEPARATOR = re.compile(rb"%(2f|5c)", re.IGNORECASE)
UNSAFE = re.compile(rb"[\x00-\x1f\x7f\\]")


def is_plain(raw_path: bytes, prefix: Prefix | None = None) -> bool:
    """Returns whether the path, as received, means the same before and after decoding."""
    if prefix is not None and prefix.slashes and raw_path.startswith(start := f"{prefix.path}/".encode()):
        raw_path = start + ENCODED_SLASH.sub(b"/", raw_path.removeprefix(start))
    if ENCODED_SEPARATOR.search(raw_path) or b"//" in raw_path:
        return False
    decoded = unquote_to_bytes(raw_path)
    return not UNSAFE.search(decoded) and not {b".", b".."} & set(decoded.split(b"/"))


def prefix_of(path: str) -> Prefix | None:
    """Returns the table's row for a decoded path, or None if no service handles it."""
    return next((prefix for prefix in TABLE if prefix.covers(path)), None)
