"""The README shows the graphs as they are compiled."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.run_events import RunPhase
from orchestrator.graphs.drawing import GRAPHS, mermaid
from orchestrator.graphs.stages import ERROR_HANDLER, PHASES

README = Path(__file__).parents[2] / "README.md"
INSIDE = Path(__file__).parents[4] / "docs/inside/conversation.md"


def test_the_readme_shows_the_conversation_graph_as_compiled() -> None:
    assert f"```mermaid\n{mermaid(GRAPHS['conversation']())}```" in README.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["artifact_ops", "retrieve"])
def test_the_documentation_shows_the_subgraphs_as_compiled(name: str) -> None:
    assert f"```mermaid\n{mermaid(GRAPHS[name]())}```" in INSIDE.read_text(encoding="utf-8")


def test_each_node_belongs_to_a_phase_of_the_turn() -> None:
    drawn = {*GRAPHS["conversation"]().nodes, *GRAPHS["artifact_ops"]().nodes} - {"__start__", "artifact_ops"}
    assert drawn == {*PHASES, ERROR_HANDLER}
    assert set(PHASES.values()) == set(RunPhase)


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_every_edge_is_drawn(name: str) -> None:
    graph = GRAPHS[name]()
    text = mermaid(graph)
    for edge in graph.get_graph().edges:
        line = next(
            one for one in text.splitlines() if one.strip().startswith(f"{edge.source} -") and edge.target in one
        )
        assert ("-.->" in line) is edge.conditional
    assert "error_handler" in text or name != "conversation"
