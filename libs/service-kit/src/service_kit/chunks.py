"""Reads `chunks.jsonl`, the object in which conversion stores a document's chunks, one JSON object per line.

Documents with few chunks are read together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from contracts.events import DocumentConverted, Event
from contracts.ingestion import Chunk

MOST_TOGETHER = 200  # chunks


def read_chunks(pieces: Iterable[bytes], only: Collection[str] | None = None) -> Iterator[Chunk]:
    """Yields the object's chunks one at a time; it is given in pieces of any size or as the lines of a file.

    `only` limits them to these ids; other lines are not parsed. Raises ValueError on a line that is not a chunk.
    """
    marks = None if only is None else [one.encode() for one in only]
    for line in read_lines(pieces):
        if marks is not None and not any(mark in line for mark in marks):
            continue
        chunk = Chunk.model_validate_json(line)
        if only is None or chunk.chunk_id in only:
            yield chunk


def read_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yields the lines without line endings, skipping blank ones."""
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield from (line for line in whole if line.strip())
    if rest.strip():
        yield rest


def portions(events: Sequence[Event]) -> Iterator[list[tuple[Event, DocumentConverted]]]:
    """Yields `document.converted` events with their data, together as long as their documents have few chunks."""
    portion, chunks = list[tuple[Event, DocumentConverted]](), 0
    for event in events:
        data = DocumentConverted.model_validate(event.data)
        if portion and chunks + data.chunk_count > MOST_TOGETHER:
            yield portion
            portion, chunks = [], 0
        portion.append((event, data))
        chunks += data.chunk_count
    if portion:
        yield portion
