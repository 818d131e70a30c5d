"""Which changes of a graph make its checkpoints useless."""

from __future__ import annotations

import subprocess
import sys
from operator import add
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph

from orchestrator.graphs.conversation import graph as conversation
from orchestrator.graphs.digest import digest


class Inner(TypedDict):
    text: str


class Plain(TypedDict):
    found: list[Inner]


class WiderInner(Inner):
    page: int


class Nested(TypedDict):
    found: list[WiderInner]


class Reduced(TypedDict):
    found: Annotated[list[Inner], add]


class Wider(Plain):
    more: int


async def node(_: Any) -> dict[str, Any]:
    return {}


def digest_of(state: Any, *nodes: str, ends: Any = None) -> str:
    graph = StateGraph(state)
    for name, after in zip(nodes, [START, *nodes], strict=False):
        graph.add_node(name, node)
        graph.add_edge(after, name)
    if ends:
        graph.add_conditional_edges(nodes[-1], lambda _: END, ends)
    return digest(graph.compile())


def test_nodes_edges_and_fields_all_affect_the_digest() -> None:
    digests = [
        digest_of(Plain, "a", "b"),
        digest_of(Plain, "a", "c"),
        digest_of(Plain, "b", "a"),
        digest_of(Plain, "a", "b", ends=[END]),
        digest_of(Plain, "a", "b", ends=[END, "a"]),
        digest_of(Nested, "a", "b"),
        digest_of(Reduced, "a", "b"),
        digest_of(Wider, "a", "b"),
    ]
    assert len(set(digests)) == len(digests)
    assert digest_of(Plain, "a", "b") == digests[0]


def test_the_digest_is_the_same_in_another_process() -> None:
    code = (
        "from orchestrator.graphs.conversation import graph; from orchestrator.graphs.digest import digest; "
        "print(digest(graph.build()))"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == digest(conversation.build())
