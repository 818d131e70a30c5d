"""Wraps every node of every graph: its events, its span, its place in the trace."""

from __future__ import annotations

from functools import wraps
from typing import Any, Protocol

from langgraph.runtime import Runtime
from langgraph.typing import ContextT, NodeInputT_contra

from contracts.events import StageCompleted, StageStarted
from orchestrator.runs.events import RunEvents
from service_kit.tracing import span


class Node(Protocol[NodeInputT_contra, ContextT]):
    """A plain async function: state in, partial state out."""

    async def __call__(self, state: NodeInputT_contra, runtime: Runtime[ContextT]) -> dict[str, Any]: ...


def stage(node: Node[NodeInputT_contra, ContextT], label: str) -> Node[NodeInputT_contra, ContextT]:
    """Returns the node between `stage_started` and `stage_completed`, in a span of its name, and in `node_trace`.

    The context has `events` (an RunEvents). They are on the stream before the node's checkpoint is written, so that a
    resumed run need not repeat them.
    """
    name = str(getattr(node, "__name__", "node"))

    @wraps(node)
    async def staged(state: NodeInputT_contra, runtime: Runtime[ContextT]) -> dict[str, Any]:
        events: RunEvents = runtime.context.events  # type: ignore[union-attr]
        events.emit(StageStarted(stage=name, label=label))
        with span(f"node {name}"):
            update = await node(state, runtime)
        events.emit(StageCompleted(stage=name))
        await events.flush()
        return {**update, "node_trace": [name]}

    return staged
