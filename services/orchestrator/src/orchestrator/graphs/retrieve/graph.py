"""The retrieve subgraph on one page: whether, where and with which query the documents are searched."""

from __future__ import annotations

from functools import cache

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.retrieve.nodes.decide_retrieve import decide_retrieve
from orchestrator.graphs.retrieve.nodes.rewrite_query import rewrite_query
from orchestrator.graphs.retrieve.nodes.search_globally import search_globally
from orchestrator.graphs.retrieve.nodes.search_locally import search_locally
from orchestrator.graphs.retrieve.nodes.select_scope import select_scope
from orchestrator.graphs.retrieve.state import RetrieveState

RetrieveGraph = CompiledStateGraph[RetrieveState, ConversationContext, RetrieveState, RetrieveState]


@cache
def build() -> RetrieveGraph:
    """Returns the graph, compiled once and without a saver, since one node of the conversation runs all of it."""
    graph = StateGraph(RetrieveState, ConversationContext)
    graph.add_node("decide_retrieve", decide_retrieve)
    graph.add_node("select_scope", select_scope)
    graph.add_node("rewrite_query", rewrite_query)
    graph.add_node("local", search_locally)
    graph.add_node("global", search_globally)
    graph.add_edge(START, "decide_retrieve")
    graph.add_conditional_edges("decide_retrieve", after_decide_retrieve, ["select_scope", END])
    graph.add_edge("select_scope", "rewrite_query")
    graph.add_conditional_edges("rewrite_query", after_rewrite_query, ["local", "global"])
    graph.add_edge("local", END)
    graph.add_edge("global", END)
    return graph.compile(checkpointer=False)


# Async, because LangGraph would call a plain function in a thread.
async def after_decide_retrieve(state: RetrieveState) -> str:
    """Ends the subgraph if there is no query, as there is nothing to search for."""
    return END if state["rag_query"] is None else "select_scope"


async def after_rewrite_query(state: RetrieveState) -> str:
    return "local" if state["conversation_mode"] == "chatpdf" else "global"
