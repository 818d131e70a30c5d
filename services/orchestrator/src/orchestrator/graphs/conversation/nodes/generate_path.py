"""Decides the route of the turn: by the message's parameters, by rules, or by a model."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypedDict

from langgraph.runtime import Runtime
from pydantic import BaseModel, ConfigDict

from contracts.prompt_fence import attribute, neutralising
from contracts.run_events import ProviderIssue
from inference.chat import ChatMessage
from inference.errors import ChatError
from inference.structured import structured
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.intent import READ, WITH, WITHOUT, Route, intent_of
from orchestrator.graphs.conversation.routing import path_of, shows_images
from orchestrator.graphs.conversation.state import Path, Turn
from orchestrator.graphs.conversation.world_wish import may_be_wish, world_wish

ROUTER_SECONDS = 3.0
ROUTER_TOKENS = 100
QUOTED_INSTEAD = "no chat model is configured that could write the document; its subject was looked up instead"
SEEN_CHARACTERS = 600
neutralised = neutralising("message", "document")
STEPS = {
    "retrieve": "Decided to search the documents",
    "reply_to_general_input": "Decided to answer without a search",
    "reply_plainly": "Was asked to answer without the documents",
    "image_processing": "Decided to look at the images",
    "world_modifier": "Decided to open the world state",
}
Choice = Route | Literal["world"]
MEANINGS: dict[Choice, str] = {
    "reply": "`reply`: a question, a remark, a search; it is answered in the conversation.",
    "generate_artifact": "`generate_artifact`: a document or a program is to be written, of its own.",
    "rewrite_artifact": "`rewrite_artifact`: the whole document is to be rewritten or replaced.",
    "update_artifact": "`update_artifact`: some places of the document are to change; the rest stays.",
    "world": "`world`: an item is to be added to or removed from the lists of the project's goals, decisions, rules,"
    " topics or open questions, or the project's name, status, summary or time zone is to be set, or shown.",
}


class AskedQuestion(TypedDict):
    """What the node reads."""

    internal_messages: list[Turn]
    question: str


class ChosenWithout(BaseModel):
    """The route of a message where the session has no artifact."""

    model_config = ConfigDict(extra="forbid")

    route: Literal["reply", "generate_artifact", "world"]


class ChosenWith(BaseModel):
    """The route of a message where the session has an artifact."""

    model_config = ConfigDict(extra="forbid")

    route: Literal["reply", "rewrite_artifact", "update_artifact", "world"]


@dataclass
class Chosen:
    """The route of a message, what chose it (`flag`, `courtesy`, `rules`, `default`, `model`), and what went wrong."""

    route: Route | str
    by: str
    issues: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)


async def generate_path(state: AskedQuestion, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Replaces a route that fails, is late or is invalid by the default, which never changes an artifact."""
    context, question = runtime.context, state["question"]
    if shows_images(state["internal_messages"]):
        return _way("image_processing", Chosen("reply", "flag"))
    if context.options.get("plain"):
        return _way("reply_plainly", Chosen("reply", "flag"))
    if action := context.options.get("artifact_action"):
        params = context.options.get("artifact_action_params")
        return {**_way("retrieve", Chosen(action, "flag")), **_work(action, params, context)}
    path = path_of(question)
    if path != "retrieve":
        return _way(path, Chosen("reply", "courtesy"))
    # One-off questions through the OpenAI API, and messages that ask for a reply, always get an answer.
    if context.options.get("ephemeral") or context.options.get("reply"):
        return _way("retrieve", Chosen("reply", "flag"))
    if world_wish(question, has_artifact=context.artifact is not None) is not None:
        return _way("world_modifier", Chosen("reply", "rules"))
    chosen = await _chosen(question, context)
    if chosen.route == "world":
        return _way("world_modifier", replace(chosen, route="reply"))
    if chosen.route == "generate_artifact" and context.models.of("artifact") is None:
        chosen = Chosen("reply", chosen.by, [QUOTED_INSTEAD])
        context.events.emit(ProviderIssue(message=QUOTED_INSTEAD))
    update = _way("retrieve", chosen)
    return update if chosen.route == "reply" else {**update, **_work(chosen.route, None, context)}


def _way(path: Path, chosen: Chosen) -> dict[str, Any]:
    step = STEPS.get(path, "")
    if chosen.route != "reply":
        step = f"Decided to {chosen.route.replace('_', ' ')}"
    return {
        "next": path,
        "issues": chosen.issues,
        "timings": chosen.timings,
        "steps_executed": [step] if step else [],
        "rag_route_debug": {
            "path": path,
            "is_courtesy": chosen.by == "courtesy",
            "route": chosen.route,
            "by": chosen.by,
        },
    }


def _work(action: str, params: dict[str, Any] | None, context: ConversationContext) -> dict[str, Any]:
    return {"artifact_action": action, "artifact_action_params": params, "artifact": context.artifact}


async def _chosen(question: str, context: ConversationContext) -> Chosen:
    has_artifact = context.artifact is not None
    found = intent_of(question, has_artifact=has_artifact)
    by_rules = Chosen(found.route, "rules" if found.sure else "default")
    sure = found.sure and not (found.route == "reply" and may_be_wish(question))
    if context.routing == "rules" or (context.routing == "auto" and sure):
        return by_rules
    if context.models.of("router") is None:
        return by_rules
    return await _by_model(question, context, (*(WITH if has_artifact else WITHOUT), "world"))


async def _by_model(question: str, context: ConversationContext, routes: tuple[Choice, ...]) -> Chosen:
    """Asks a model for the route; its time is reported separately from the node's."""
    began = time.perf_counter()
    chosen = Chosen("reply", "default")
    try:
        async with asyncio.timeout(ROUTER_SECONDS):
            chosen = Chosen(await _chosen_by_model(question, context, routes), "model")
    except (ChatError, TimeoutError) as error:
        chosen.issues = [f"the message was answered, as no route was chosen: {error or 'the model took too long'}"]
    for issue in chosen.issues:
        context.events.emit(ProviderIssue(message=issue))
    chosen.timings = {"router_model": round(1000 * (time.perf_counter() - began), 1)}
    return chosen


async def _chosen_by_model(question: str, context: ConversationContext, routes: tuple[Choice, ...]) -> Choice:
    chat = context.models.of("router")
    assert chat is not None
    artifact = context.artifact
    seen = "The session has no document."
    if artifact is not None:
        title, text = attribute(artifact["title"] or ""), neutralised(artifact["text"][:SEEN_CHARACTERS])
        seen = f'The beginning of the session\'s document:\n<document title="{title}">\n{text}\n</document>'
    prompt = context.prompts.generate_path.render(
        routes="\n".join(f"- {MEANINGS[route]}" for route in routes),
        artifact=seen,
        message=neutralised(question[:READ]),
    )
    valid: type[ChosenWith | ChosenWithout] = ChosenWith if artifact is not None else ChosenWithout
    answer = await structured(chat, [ChatMessage("user", prompt)], valid, max_tokens=ROUTER_TOKENS)
    return answer.route
