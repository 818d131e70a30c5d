"""The conversation graph on one page."""

from __future__ import annotations

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.nodes.clean_state import clean_state
from orchestrator.graphs.conversation.nodes.generate_path import generate_path
from orchestrator.graphs.conversation.nodes.generate_title import generate_title
from orchestrator.graphs.conversation.nodes.reply_to_general_input import reply_to_general_input
from orchestrator.graphs.conversation.nodes.retrieve import retrieve
from orchestrator.graphs.conversation.nodes.verify_citations import verify_citations
from orchestrator.graphs.conversation.routing import after_clean_state, after_generate_path
from orchestrator.graphs.conversation.state import State
from orchestrator.graphs.stages import stage

ConversationGraph = CompiledStateGraph[State, ConversationContext, State, State]


def build(checkpointer: BaseCheckpointSaver[str]) -> ConversationGraph:
    graph = StateGraph(State, ConversationContext)
    graph.add_node("generate_path", stage(generate_path, "Choosing the way"))
    graph.add_node("retrieve", stage(retrieve, "Searching the documents"))
    graph.add_node("reply_to_general_input", stage(reply_to_general_input, "Writing the answer"))
    graph.add_node("verify_citations", stage(verify_citations, "Checking the citations"))
    graph.add_node("clean_state", stage(clean_state, "Tidying up"))
    graph.add_node("generate_title", stage(generate_title, "Naming the session"))

    graph.add_edge(START, "generate_path")
    graph.add_conditional_edges("generate_path", after_generate_path, ["retrieve", "reply_to_general_input"])
    graph.add_edge("retrieve", "reply_to_general_input")
    graph.add_edge("reply_to_general_input", "verify_citations")
    graph.add_edge("verify_citations", "clean_state")
    graph.add_conditional_edges("clean_state", after_clean_state, ["generate_title", END])
    graph.add_edge("generate_title", END)
    return graph.compile(checkpointer=checkpointer)
