"""Wraps every node of every graph: events, span, trace, and error handling."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, Protocol, TypedDict, TypeVar, cast

import psycopg
from langgraph.runtime import Runtime
from langgraph.typing import ContextT, NodeInputT_contra
from opentelemetry.trace import StatusCode

from contracts.artifact_actions import ArtifactAction
from contracts.run_events import RunPhase, StageCompleted, StageStarted
from orchestrator.errors import GraphError
from orchestrator.runs.events import RunEvents
from service_kit.problems import ServiceSilent, Unavailable, WorkspaceGone
from service_kit.tracing import span
from service_kit.work import LeaseLost

log = logging.getLogger(__name__)
ERROR_HANDLER = "error_handler"
# The phase of each node. The error handler answers in the phase of the node that failed.
PHASES: dict[str, RunPhase] = {
    "generate_path": RunPhase.routing,
    "world_modifier": RunPhase.contextualisation,
    "retrieve": RunPhase.contextualisation,
    "artifact_action_dispatch": RunPhase.artifact_operations,
    **dict.fromkeys((action.value for action in ArtifactAction), RunPhase.artifact_operations),
    "generate_followup": RunPhase.artifact_operations,
    "reply_to_general_input": RunPhase.answering,
    "reply_plainly": RunPhase.answering,
    "image_processing": RunPhase.answering,
    "verify_citations": RunPhase.answering,
    "reflect": RunPhase.housekeeping,
    "clean_state": RunPhase.housekeeping,
    "generate_title": RunPhase.housekeeping,
    "summarizer": RunPhase.housekeeping,
}
FOR_THE_ENGINE = (GraphError, LeaseLost, WorkspaceGone, Unavailable, psycopg.OperationalError)


class NodeFailure(TypedDict):
    """The node that failed, the label that users see, and the class of its error."""

    stage: str
    label: str
    kind: str


class Failing(TypedDict):
    """The part of a state that a failed node writes."""

    error: NodeFailure | None


FailingState = TypeVar("FailingState", bound=Failing)


class Node(Protocol[NodeInputT_contra, ContextT]):
    """A plain async function: state in, partial state out."""

    async def __call__(self, state: NodeInputT_contra, runtime: Runtime[ContextT]) -> dict[str, Any]: ...


def stage(node: Node[NodeInputT_contra, ContextT], label: str) -> Node[NodeInputT_contra, ContextT]:
    """Returns the node between `stage_started` and `stage_completed`, in a span of its name, timed and in `node_trace`.

    The context has `events` (a RunEvents). They are on the stream before the node's checkpoint is written, so that a
    resumed run need not repeat them.

    A GraphError, a lost lease and an unavailable database are raised to the graph's caller. Any other error becomes
    `error` in the state, and the node's edges (`unless_failed`) lead to the error handler; only there it is raised.
    """
    name = str(getattr(node, "__name__", "node"))
    of_name = None if name == ERROR_HANDLER else PHASES[name]

    @wraps(node)
    async def staged(state: NodeInputT_contra, runtime: Runtime[ContextT]) -> dict[str, Any]:
        events: RunEvents = runtime.context.events  # type: ignore[union-attr]  # each graph has one
        failed = None if of_name else cast(Failing, state)["error"]
        phase = of_name or (PHASES[failed["stage"]] if failed else None)
        events.emit(StageStarted(stage=name, label=label, phase=phase))
        began = time.perf_counter()
        try:
            with span(f"node {name}") as current:
                update = await node(state, runtime)
                current.set_status(StatusCode.OK)  # an error sets its own
        except Exception as error:
            if name == ERROR_HANDLER or _is_for_the_engine(error):
                raise
            log.exception("node failed", extra={"node": name})
            return {"error": NodeFailure(stage=name, label=label, kind=type(error).__name__)}
        events.emit(StageCompleted(stage=name))
        await events.flush()
        took = {name: round(1000 * (time.perf_counter() - began), 1)}
        return {**update, "node_trace": [name], "timings": {**update.get("timings", {}), **took}}

    return staged


def unless_failed(
    stage_name: str, following: Callable[[FailingState], str], state_type: type[FailingState]
) -> Callable[[FailingState], Awaitable[str]]:
    """Returns the path of a conditional edge, to the error handler if the node has failed. It reads the whole state."""

    async def way(state: FailingState) -> str:  # LangGraph would call a plain function in a thread
        error = state["error"]
        return ERROR_HANDLER if error is not None and error["stage"] == stage_name else following(state)

    way.__annotations__["state"] = state_type  # otherwise LangGraph passes it only what the node reads
    return way


def _is_for_the_engine(error: Exception) -> bool:
    """Returns whether the caller of the graph handles the error: a database's, but not another service's."""
    return isinstance(error, FOR_THE_ENGINE) and not isinstance(error, ServiceSilent)
