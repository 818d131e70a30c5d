"""Draws compiled graphs, with their subgraphs and the edges to the error handler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from langgraph.graph import START
from langgraph.graph.state import CompiledStateGraph

from orchestrator.graphs.artifact_ops import graph as artifact_ops
from orchestrator.graphs.conversation import graph as conversation
from orchestrator.graphs.retrieve import graph as retrieve

GRAPHS: Mapping[str, Callable[[], CompiledStateGraph[Any, Any, Any, Any]]] = {
    "conversation": conversation.build,
    "artifact_ops": artifact_ops.build,
    "retrieve": retrieve.build,
}


def mermaid(graph: CompiledStateGraph[Any, Any, Any, Any]) -> str:
    """Returns the compiled graph in Mermaid's language, with one line for all edges of a kind from a node."""
    drawn: dict[str, list[str]] = {}
    for edge in sorted(graph.get_graph().edges, key=lambda one: one.source != START):
        arrow = "-.->" if edge.conditional else "-->"
        drawn.setdefault(f"{edge.source} {arrow}", []).append(edge.target)
    lines = [f"    {begin} {' & '.join(ends)};" for begin, ends in drawn.items()]
    return "\n".join(["graph TD;", *lines, ""])
