"""Carries out the message's wish about the world state: memory tries it out, and the end of the run commits it."""

from __future__ import annotations

from typing import Any, TypedDict

from langgraph.runtime import Runtime

from contracts.gateway import Role
from contracts.run_events import ProviderIssue
from contracts.world import StagedOperations
from inference.errors import ChatError
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.wish_by_model import wish_by_model
from orchestrator.graphs.conversation.world_telling import telling, world_change
from orchestrator.graphs.conversation.world_wish import WorldWish, world_wish
from orchestrator.services import WorldChangeRefused
from service_kit.problems import ServiceSilent

LOOKED, STAGED = "Looked into the world state", "Prepared a change of the world state"


class WishingTurn(TypedDict):
    """What the node reads."""

    question: str


async def world_modifier(state: WishingTurn, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Stages operations and their description for the answer. If the world has nothing to show, the search answers.

    So it does if a model that read the message, because the rules do not understand it, finds no wish in it.
    """
    context = runtime.context
    wish = world_wish(state["question"], has_artifact=context.artifact is not None)
    if wish is None:
        wish, issues = await _read_by_model(state["question"], context)
        if wish is None:
            return {"issues": issues}
    if (refusal := _refused(wish, context)) is not None:
        return {"world_told": telling(wish, refusal), "steps_executed": [LOOKED]}
    session_id = context.session_id if wish.of_session else None
    try:
        world = await context.memory.world(context.caller, session_id)
        change = world_change(wish, world.document)
        if change.operations:
            await context.memory.try_out(context.caller, change.operations, session_id)
    except ServiceSilent as silent:
        context.events.emit(ProviderIssue(message=str(silent)))
        statement = None if wish.act == "show" else telling(wish, "silent")
        return {"world_told": statement, "issues": [str(silent)]}
    except WorldChangeRefused as refused:
        why = str(refused).rpartition(": ")[2].removeprefix("Value error, ")
        return {"world_told": telling(wish, "refused", why), "steps_executed": [LOOKED]}
    if not change.operations:
        return {"world_told": change.statement, "steps_executed": [LOOKED]}
    staged = StagedOperations(of_session=wish.of_session, operations=change.operations)
    return {"world_told": change.statement, "staged": staged.model_dump(mode="json"), "steps_executed": [STAGED]}


async def _read_by_model(question: str, context: ConversationContext) -> tuple[WorldWish | None, list[str]]:
    """Returns the wish, and what went wrong."""
    chat = context.models.of("router")
    if chat is None:
        return None, []
    try:
        return await wish_by_model(chat, context.prompts.world_modifier, question), []
    except (ChatError, TimeoutError) as error:
        issue = f"the message was answered, as its wish could not be read: {error or 'the model took too long'}"
        context.events.emit(ProviderIssue(message=issue))
        return None, [issue]


def _refused(wish: WorldWish, context: ConversationContext) -> str | None:
    """Returns the reason if this turn must not change anything."""
    if wish.act == "show":
        return None
    if not context.remembers:
        return "temporary"
    return "viewer" if not wish.of_session and context.caller.role.rank < Role.editor.rank else None
