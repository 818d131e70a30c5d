"""Chooses a turn's next node. Does no IO."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from langgraph.graph import END

from orchestrator.errors import RoutingError
from orchestrator.graphs.artifact_ops.recovery import RECOVERY
from orchestrator.graphs.conversation.budgets import within_budget
from orchestrator.graphs.conversation.state import Path, State, Turn
from orchestrator.graphs.stages import ERROR_HANDLER

# Whole messages that ask nothing, for which a search would only find noise.
_COURTESY = re.compile(
    r"(?:(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|hallo|guten (?:morgen|tag|abend)|bonjour|hola"
    r"|thanks|thank you|many thanks|thx|danke|merci|gracias|cheers|bye|good ?bye|see you|okay|ok|great|perfect)"
    r"(?: (?:there|all|everyone|attractor|again|so much|very much|a lot))?[\s,.!…:;)-]*+)++",
    re.IGNORECASE,
)


def path_of(question: str) -> Literal["retrieve", "reply_to_general_input"]:
    """Returns the route: greetings and thanks are answered directly, all else searches the documents first."""
    return "reply_to_general_input" if _COURTESY.fullmatch(question.strip()) else "retrieve"


def shows_images(messages: Sequence[Turn]) -> bool:
    """Returns whether the question itself shows images."""
    questions = [turn for turn in messages if turn["role"] == "user"]
    return bool(questions and questions[-1].get("images"))


def after_generate_path(state: State) -> Path:
    """Returns the chosen path. Raises RoutingError."""
    direct = state["next"]
    if direct not in ("retrieve", "reply_to_general_input", "reply_plainly", "image_processing", "world_modifier"):
        raise RoutingError
    return direct


def after_world_modifier(state: State) -> Literal["reply_to_general_input", "retrieve"]:
    """Goes on to the search if the world state has no answer."""
    return "retrieve" if state["world_told"] is None else "reply_to_general_input"


def after_retrieve(state: State) -> Literal["artifact_ops", "reply_to_general_input"]:
    """Goes on to artifact work, which follows a search like any other turn, or to the answer."""
    return "artifact_ops" if state["artifact_action"] is not None else "reply_to_general_input"


def route_artifact_ops_exit(state: State) -> str:
    """Goes on to the answer for a failed action; a successful one has its answer, and may be reflected on."""
    if state["error"] is not None:
        return ERROR_HANDLER
    return "reply_to_general_input" if state["next"] == RECOVERY else "reflect"


def after_clean_state(state: State) -> str:
    """Goes on to the title after the first exchange of an untitled session."""
    return "generate_title" if state["needs_title"] else after_generate_title(state)


def after_generate_title(state: State) -> str:
    """Goes on to the summary if the history is too long; the answer is final, and nobody waits any more."""
    most = state["summary_tokens"]
    texts = [turn["content"] for turn in state["internal_messages"] if turn["role"] != "summary"]
    too_long = most is not None and within_budget(texts, most) < len(texts)
    return "summarizer" if too_long and state["mode"] == "model" and not state["fallback"] else END


def after_error_handler(state: State) -> str:
    """Goes on to the check of an answer that the handler wrote; later failures leave the existing answer."""
    match state["error"]:
        case {"stage": "verify_citations" | "reflect"}:
            return "clean_state"
        case {"stage": "clean_state" | "generate_title" | "summarizer"}:
            return END
        case _:
            return "verify_citations"
