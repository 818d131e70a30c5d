"""Reads `chunks.jsonl`, the object in which conversion leaves a document's chunks: a chunk as JSON in each line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from contracts.ingestion import Chunk


def read_chunks(pieces: Iterable[bytes], only: Collection[str] | None = None) -> Iterator[Chunk]:
    """Yields the chunks of the object, given in pieces of any size or as the lines of a file, one at a time.

    `only` limits them to those with these ids: no other line is parsed. Raises ValueError on a line that is no chunk.
    """
    marks = None if only is None else [one.encode() for one in only]
    for line in read_lines(pieces):
        if marks is not None and not any(mark in line for mark in marks):
            continue
        chunk = Chunk.model_validate_json(line)
        if only is None or chunk.chunk_id in only:
            yield chunk


def read_lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yields the lines without their ends. Blank ones are left out."""
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield from (line for line in whole if line.strip())
    if rest.strip():
        yield rest
