"""Which of the names that stand above a chunk its fields and lists speak of."""

from __future__ import annotations

from knowledge_graph.extraction.chunk_analysis import ChunkAnalysis
from knowledge_graph.extraction.names import name_key
from knowledge_graph.extraction.records import Mention


def section_thing(chunk: ChunkAnalysis) -> Mention | None:
    """Returns what the nearest heading names; where that names nothing ("Dependencies"), what one above it names."""
    named = [one for one in chunk.mentions if one.about]
    for heading in reversed(chunk.chunk.headings):
        key = name_key(heading)
        found = next((one for one in named if one.name_key == key or name_key(one.surface) == key), None)
        if found is not None:
            return found
    return next((one for one in named if one.about == "heading"), None)
