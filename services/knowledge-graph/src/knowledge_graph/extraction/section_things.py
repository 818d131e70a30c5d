"""Finds the name in the headings above a chunk that its fields and lists are about."""

from __future__ import annotations

from knowledge_graph.extraction.chunk_analysis import ChunkAnalysis
from knowledge_graph.extraction.names import name_key
from knowledge_graph.extraction.records import Mention
from knowledge_graph.extraction.resolution import SYSTEMS


def section_thing(chunk: ChunkAnalysis) -> Mention | None:
    """Returns what the nearest heading names; if it names nothing ("Dependencies"), what a heading above it names.

    For "Runbook: Order Service" it is the service.
    """
    named = [one for one in chunk.mentions if one.about]
    for heading in reversed(chunk.chunk.headings):
        key = name_key(heading)
        # "INC-112: No tickets" is about INC-112.
        numbered = [one for one in named if one.entity_type == "DOCUMENT_ID" and heading.startswith(f"{one.surface}:")]
        if numbered:
            return numbered[0]
        evident = [one for one in named if one.entity_type in SYSTEMS and name_key(one.surface) in key]
        whole = [one for one in named if one.name_key == key or name_key(one.surface) == key]
        inside = [one for one in evident if ":" in heading and ":" not in one.surface]
        found = inside or [one for one in whole if one.entity_type in SYSTEMS] or evident or whole
        if found:
            return found[0] if found[0] in whole else max(found, key=lambda one: len(one.surface))
    return next((one for one in named if one.about == "heading"), None)
