"""Finds the places in the Markdown of chunks that were stored before conversion noted them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import closing

from contracts.ingestion import Chunk
from ingestion.conversion.markdown_places import markdown_places
from ingestion.documents.derived_objects import DerivedKeys
from service_kit.chunks import read_chunks
from service_kit.objects import ObjectStore


async def placed(objects: ObjectStore, keys: DerivedKeys, chunks: Sequence[Chunk]) -> list[Chunk]:
    """Returns the chunks of a version with their places in its Markdown. Raises ObjectMissing."""
    if all("markdown_start" in chunk.model_fields_set for chunk in chunks):
        return list(chunks)
    return await asyncio.to_thread(_placed, objects, keys, chunks)


def _placed(objects: ObjectStore, keys: DerivedKeys, chunks: Sequence[Chunk]) -> list[Chunk]:
    with closing(objects.stream(keys.chunks)) as pieces:
        contents = [chunk.content for chunk in read_chunks(pieces)]
    places = markdown_places(contents, objects.get(keys.markdown).decode())
    found = []
    for chunk in chunks:
        start, end = places[chunk.chunk_index] or (None, None)
        found.append(chunk.model_copy(update={"markdown_start": start, "markdown_end": end}))
    return found
