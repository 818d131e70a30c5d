"""Packs versions for storage: one in twenty in full, the others as changes to the previous one. Pure."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence

from orchestrator.artifacts.differences import changes, trimmed

CHAIN = 20


def packed(text: str) -> bytes:
    """Returns the full text, compressed."""
    return zlib.compress(text.encode())


def packed_changes(before: str, after: str) -> bytes:
    """Returns the changes that turn the first text into the second, compressed."""
    spans = [trimmed(change, before, after) for change in changes(before, after)]
    edits = [[span.start, span.end, after[span.new_start : span.new_end]] for span in spans]
    return zlib.compress(json.dumps(edits, ensure_ascii=False, separators=(",", ":")).encode())


def unpacked(bodies: Sequence[bytes]) -> str:
    """Returns the text: the first body has it in full, all that follow are changes."""
    text = zlib.decompress(bodies[0]).decode()
    for body in bodies[1:]:
        parts, at = list[str](), 0
        for start, end, replacement in json.loads(zlib.decompress(body)):
            parts += [text[at:start], replacement]
            at = end
        text = "".join([*parts, text[at:]])
    return text
