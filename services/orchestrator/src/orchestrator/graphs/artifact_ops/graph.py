"""The subgraph of the conversation in which a run changes its session's artifact, on one page."""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from orchestrator.graphs.artifact_ops.nodes.artifact_action_dispatch import artifact_action_dispatch
from orchestrator.graphs.artifact_ops.nodes.custom_action import custom_action
from orchestrator.graphs.artifact_ops.nodes.generate_artifact import generate_artifact
from orchestrator.graphs.artifact_ops.nodes.generate_followup import generate_followup
from orchestrator.graphs.artifact_ops.nodes.rewrite_artifact import rewrite_artifact
from orchestrator.graphs.artifact_ops.nodes.rewrite_artifact_theme import (
    rewrite_artifact_theme,
    rewrite_code_artifact_theme,
)
from orchestrator.graphs.artifact_ops.nodes.update_artifact import update_artifact
from orchestrator.graphs.artifact_ops.nodes.update_highlighted_text import update_highlighted_text
from orchestrator.graphs.artifact_ops.recovery import RECOVERY
from orchestrator.graphs.artifact_ops.state import ArtifactOpsState
from orchestrator.graphs.artifact_ops.working import soft
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.stages import Node, stage

ArtifactOpsGraph = CompiledStateGraph[ArtifactOpsState, ConversationContext, ArtifactOpsState, ArtifactOpsState]
ACTIONS: dict[str, tuple[Node[Any, ConversationContext], str]] = {
    "generate_artifact": (generate_artifact, "Writing the document"),
    "rewrite_artifact": (rewrite_artifact, "Rewriting the document"),
    "rewrite_artifact_theme": (rewrite_artifact_theme, "Rewriting the document"),
    "rewrite_code_artifact_theme": (rewrite_code_artifact_theme, "Rewriting the code"),
    "update_artifact": (update_artifact, "Changing the document"),
    "update_highlighted_text": (update_highlighted_text, "Changing the selected text"),
    "custom_action": (custom_action, "Following the quick action"),
}


def build() -> ArtifactOpsGraph:
    """Returns the graph without a saver, since it inherits the conversation's."""
    graph = StateGraph(ArtifactOpsState, ConversationContext)
    graph.add_node("artifact_action_dispatch", stage(artifact_action_dispatch, "Looking at the artifact"))
    graph.add_node("generate_followup", stage(generate_followup, "Telling what was done"))
    graph.add_edge(START, "artifact_action_dispatch")
    graph.add_conditional_edges("artifact_action_dispatch", after_dispatch, [*ACTIONS, END])
    for name, (node, label) in ACTIONS.items():
        graph.add_node(name, stage(soft(node), label))
        graph.add_conditional_edges(name, after_action, ["generate_followup", END])
    graph.add_edge("generate_followup", END)
    return graph.compile()


def after_dispatch(state: ArtifactOpsState) -> str:
    if state["error"] is not None or state["next"] == RECOVERY:
        return END
    return state["artifact_action"] or END


def after_action(state: ArtifactOpsState) -> str:
    return END if state["error"] is not None or state["next"] == RECOVERY else "generate_followup"
