"""Separates fields that a converter ran together: "Owner: Water Repository: gate-keeper" becomes two lines."""

from __future__ import annotations

import re
from dataclasses import replace

from knowledge_graph.extraction.records import SourceChunk
from knowledge_graph.extraction.relation_phrases import FIELD_NAMES
from knowledge_graph.extraction.word_lists import phrases

PEOPLE = "|".join(sorted(map(re.escape, phrases("people_fields")), key=len, reverse=True))
OPENS = re.compile(
    rf"[ \t]*\**(?:{FIELD_NAMES}|{PEOPLE}|service|name|status|date|on[ -]call|repository|tier)\**[ \t]*:\**[ \t]",
    re.IGNORECASE,
)
NEXT = re.compile(r"(?<=[^\s:]) (?=\*{0,2}[A-Z][a-z]{1,20}(?:[ -][a-z]{1,20}){0,2}\*{0,2}:\*{0,2}[ \t]+\S)")


def with_fields_apart(chunk: SourceChunk) -> SourceChunk:
    """Returns the chunk with one line per field in lines that begin with a field; all characters keep their place."""
    lines = chunk.content.split("\n")
    apart = "\n".join(NEXT.sub("\n", line) if OPENS.match(line) else line for line in lines)
    return replace(chunk, content=apart)
