"""Stored things as callers see them."""

from __future__ import annotations

from contracts.knowledge_graph import Entity
from knowledge_graph.graph_store import StoredEntity


def to_entity(stored: StoredEntity) -> Entity:
    return Entity(
        id=stored.id,
        name=stored.name,
        entity_type=stored.entity_type,
        mentions=stored.mentions,
        documents=stored.documents,
        aliases=stored.aliases,
    )
