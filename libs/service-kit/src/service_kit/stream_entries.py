"""Entries of Redis streams: their ids, and the forms in which redis-py returns them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

EntryId = tuple[int, int]  # compares in the order of the stream
Fields = Mapping[Any, Any]


def parse_id(entry_id: bytes | str) -> EntryId:
    milliseconds, _, sequence = as_text(entry_id).partition("-")
    return int(milliseconds), int(sequence)


def format_id(entry_id: EntryId) -> str:
    return "{}-{}".format(*entry_id)


def written_at(entry_id: bytes | str) -> float:
    """Returns when an entry with a generated id was written, in seconds since 1970."""
    return parse_id(entry_id)[0] / 1000


def entries_read(answer: Any) -> Iterator[tuple[str, bytes | str, Fields]]:
    """Yields stream, id and fields of each entry in the answer to XREAD or XREADGROUP.

    redis-py returns a list of streams with their entries, or (RESP3) a dict of streams with lists of entries.
    """
    for stream, batch in answer.items() if isinstance(answer, dict) else answer or []:
        for part in batch:
            for entry_id, fields in part if isinstance(part, list) else [part]:
                yield as_text(stream), entry_id, fields


def event_json(fields: Fields) -> bytes | str:
    """Returns the event in an entry's fields; empty if there is none."""
    event: bytes | str = fields.get(b"event", fields.get("event", b""))
    return event


def as_text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def as_texts(fields: Fields) -> dict[str, str]:
    return {as_text(key): as_text(value) for key, value in fields.items()}
