"""The conversation graph on one page."""

from __future__ import annotations

from collections.abc import Callable

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from orchestrator.graphs.artifact_ops import graph as artifact_ops
from orchestrator.graphs.artifact_ops.state import ArtifactOpsState
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.nodes.clean_state import clean_state
from orchestrator.graphs.conversation.nodes.error_handler import error_handler
from orchestrator.graphs.conversation.nodes.generate_path import generate_path
from orchestrator.graphs.conversation.nodes.generate_title import generate_title
from orchestrator.graphs.conversation.nodes.image_processing import image_processing
from orchestrator.graphs.conversation.nodes.reflect import reflect
from orchestrator.graphs.conversation.nodes.reply_plainly import reply_plainly
from orchestrator.graphs.conversation.nodes.reply_to_general_input import reply_to_general_input
from orchestrator.graphs.conversation.nodes.retrieve import retrieve
from orchestrator.graphs.conversation.nodes.summarizer import summarizer
from orchestrator.graphs.conversation.nodes.verify_citations import verify_citations
from orchestrator.graphs.conversation.nodes.world_modifier import world_modifier
from orchestrator.graphs.conversation.routing import (
    after_clean_state,
    after_error_handler,
    after_generate_path,
    after_generate_title,
    after_retrieve,
    after_world_modifier,
    route_artifact_ops_exit,
)
from orchestrator.graphs.conversation.state import State
from orchestrator.graphs.stages import ERROR_HANDLER, stage, unless_failed

ConversationGraph = CompiledStateGraph[State, ConversationContext, State, State]


def build() -> ConversationGraph:
    """Returns the graph without a saver; each attempt copies it with its own."""
    graph = StateGraph(State, ConversationContext)
    graph.add_node("generate_path", stage(generate_path, "Choosing the way"))
    graph.add_node("world_modifier", stage(world_modifier, "Opening the world state"))
    graph.add_node("retrieve", stage(retrieve, "Searching the documents"))
    graph.add_node("artifact_ops", artifact_ops.build(), input_schema=ArtifactOpsState)
    graph.add_node("reply_to_general_input", stage(reply_to_general_input, "Writing the answer"))
    graph.add_node("reply_plainly", stage(reply_plainly, "Writing the answer"))
    graph.add_node("image_processing", stage(image_processing, "Looking at the images"))
    graph.add_node("verify_citations", stage(verify_citations, "Checking the citations"))
    graph.add_node("reflect", stage(reflect, "Learning what you prefer"))
    graph.add_node("clean_state", stage(clean_state, "Tidying up"))
    graph.add_node("generate_title", stage(generate_title, "Naming the session"))
    graph.add_node("summarizer", stage(summarizer, "Condensing earlier messages"))
    graph.add_node(ERROR_HANDLER, stage(error_handler, "Telling what failed"))

    def edge(source: str, *ends: str, path: Callable[[State], str] | None = None) -> None:
        """Adds an edge, conditional for several targets, that leads to the error handler if the node failed."""
        following = path or (lambda _: ends[0])
        graph.add_conditional_edges(source, unless_failed(source, following, State), [*ends, ERROR_HANDLER])

    graph.add_edge(START, "generate_path")
    edge(
        "generate_path",
        *("retrieve", "reply_to_general_input", "reply_plainly", "image_processing", "world_modifier"),
        path=after_generate_path,
    )
    edge("world_modifier", "reply_to_general_input", "retrieve", path=after_world_modifier)
    edge("retrieve", "artifact_ops", "reply_to_general_input", path=after_retrieve)
    graph.add_conditional_edges(
        "artifact_ops", route_artifact_ops_exit, ["reflect", "reply_to_general_input", ERROR_HANDLER]
    )
    edge("reply_to_general_input", "verify_citations")
    edge("reply_plainly", "clean_state")
    edge("image_processing", "clean_state")
    edge("verify_citations", "clean_state")
    edge("reflect", "clean_state")
    edge("clean_state", "generate_title", "summarizer", END, path=after_clean_state)
    edge("generate_title", "summarizer", END, path=after_generate_title)
    edge("summarizer", END)
    graph.add_conditional_edges(ERROR_HANDLER, after_error_handler, ["verify_citations", "clean_state", END])
    return graph.compile()
