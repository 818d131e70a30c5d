"""The graph for display, and as a file."""

from __future__ import annotations

from enum import StrEnum

from contracts.base import Resource
from contracts.graph_tools import EntityMatch


class SubgraphNode(Resource):
    id: str
    name: str
    entity_type: str
    mentions: int
    documents: int


class SubgraphEdge(Resource):
    source: str
    target: str
    relation_type: str
    weight: float
    evidence: int


class Subgraph(Resource):
    """Nodes and the edges between them. `centre` is the entity that was asked for; null for the most central part of
    the graph. `truncated`: a limit left something out.
    """

    centre: EntityMatch | None
    nodes: list[SubgraphNode]
    edges: list[SubgraphEdge]
    truncated: bool
    store: str


class ExportFormat(StrEnum):
    graphml = "graphml"
    turtle = "turtle"
    jsonl = "jsonl"
