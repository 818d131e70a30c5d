"""Finds the entity that a caller means by a name, and others that the name may mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from contracts.graph_tools import EntityMatch
from knowledge_graph.extraction.names import name_key
from knowledge_graph.graph_store import GraphStore, Match, StoredEntity

ENTITY_ID = re.compile(r"[0-9a-f]{32}")
MOST_MATCHES = 6
SHORTEST_BEGINNING = 3
LEAST_SIMILARITY = 0.5
"""Trigram similarity from which a misspelled name is accepted; below it, the entity is only suggested."""


class NoToolResult(Exception):
    """A tool has no result: the message is the reason, and `suggestions` are what to ask instead."""

    def __init__(self, message: str, suggestions: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.suggestions = list(suggestions)


@dataclass(frozen=True)
class MeantEntity:
    """The entity, and others that the name may have meant, nearest first."""

    stored: StoredEntity
    entity: EntityMatch
    alternatives: list[EntityMatch]

    @property
    def id(self) -> str:
        return self.stored.id


async def meant(store: GraphStore, workspace_id: UUID, name: str) -> MeantEntity:
    """Finds an entity by name or id: its own name, an alias, a prefix, or a similar name, in this order.

    Raises NoToolResult with the nearest names if none is near enough.
    """
    if ENTITY_ID.fullmatch(name) and (found := await store.entities(workspace_id, [name])):
        return MeantEntity(found[0], matched(Match(found[0], "exact", 1.0), name), [])
    matches = await store.find(workspace_id, name, MOST_MATCHES) if name_key(name) else []
    described = [matched(match, name) for match in matches]
    if not matches or not _is_near(described[0], name):
        near = [one.name for one in described]
        known = "; did you mean one of the suggestions?" if near else ""
        raise NoToolResult(f"the graph has no entity named {name!r}{known}", near)
    return MeantEntity(matches[0].entity, described[0], described[1:])


def matched(match: Match, name: str) -> EntityMatch:
    stored = match.entity
    similarity = match.similarity
    if match.how == "prefix":
        similarity = len(name_key(name)) / max(1, len(stored.name_key))
    return EntityMatch(
        id=stored.id,
        name=stored.name,
        entity_type=stored.entity_type,
        mentions=stored.mentions,
        documents=stored.documents,
        aliases=stored.aliases,
        how=match.how,
        similarity=round(min(1.0, similarity), 3),
    )


def _is_near(best: EntityMatch, name: str) -> bool:
    """Rejects prefixes of two letters, and names that have too little in common with the entity's."""
    if best.how == "prefix":
        return len(name_key(name)) >= SHORTEST_BEGINNING
    return best.how != "fuzzy" or best.similarity >= LEAST_SIMILARITY
