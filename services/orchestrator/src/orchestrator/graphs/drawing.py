"""Draws compiled graphs, with the subgraphs within them and the edges to the error handler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from langgraph.graph.state import CompiledStateGraph

from orchestrator.graphs.artifact_ops import graph as artifact_ops
from orchestrator.graphs.conversation import graph as conversation

GRAPHS: Mapping[str, Callable[[], CompiledStateGraph[Any, Any, Any, Any]]] = {
    "conversation": conversation.build,
    "artifact_ops": artifact_ops.build,
}


def mermaid(graph: CompiledStateGraph[Any, Any, Any, Any]) -> str:
    """Returns the graph in Mermaid's language, as it is compiled."""
    drawn = graph.get_graph().draw_mermaid(with_styles=False)
    return "\n".join(line.rstrip() for line in drawn.replace("\t", "    ").strip().splitlines()) + "\n"
