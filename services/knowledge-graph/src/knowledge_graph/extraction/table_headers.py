"""Interprets headers of tables and names of fields by the lists in `words`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from knowledge_graph.extraction.word_lists import equations

THING = "THING"
CONSUMER = "CONSUMER"
PARENTHESIS = re.compile(r"\([^()]*\)")
MARKUP = re.compile(r"[`*]|:\s*$")


@dataclass(frozen=True)
class ColumnRole:
    """What a header says about its column: the row's thing, its relation with the row's thing, or either.
    `of_consumer`: a relation only if the row's thing is a consumer."""

    can_be_thing: bool
    relation_type: str
    reverse: bool
    of_consumer: bool = False


def _roles() -> Iterator[tuple[str, ColumnRole]]:
    for headers, meaning in equations("table_headers", ","):
        words = meaning.split()
        relation_type = words[-1] if words[-1] != THING else ""
        for header in headers:
            yield header, ColumnRole(words[0] == THING, relation_type, "<" in words, words[0] == CONSUMER)


TYPES = {header: found for headers, found in equations("header_types", ",") for header in headers}
KIND_OF_ROW = "KIND"
ROLES = dict(_roles())
RANKS = {header: rank for rank, header in enumerate(ROLES)}
CONSUMERS = frozenset(
    header for headers, meaning in equations("table_headers", ",") if meaning == "THING < USES" for header in headers
)


def header_key(header: str) -> str:
    """Returns the header as written in the lists."""
    bare = PARENTHESIS.sub("", MARKUP.sub("", header.strip()))
    return " ".join(re.sub(r"[_-]", " ", bare).casefold().split())
