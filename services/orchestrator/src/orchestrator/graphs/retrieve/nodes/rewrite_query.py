"""Rewrites the query with a chat model so that it can be understood without the conversation."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Annotated, Any, TypedDict

from langgraph.runtime import Runtime
from pydantic import BaseModel, ConfigDict, StringConstraints

from contracts.prompt_fence import neutralising
from contracts.run_events import ProviderIssue
from inference.chat import ChatMessage
from inference.errors import ChatError
from inference.role_chat import RoleChat
from inference.structured import structured
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.state import Turn

REWRITE_SECONDS = 3.0
REWRITE_TOKENS = 300
READ_TURNS, READ_CHARACTERS = 6, 600
LONGEST_WORDING, MOST_OTHERS = 500, 2
neutralised = neutralising("conversation", "message")
Wording = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_WORDING)]


class Rewritten(BaseModel):
    """The query, and other wordings of it."""

    model_config = ConfigDict(extra="forbid")

    query: Wording
    others: list[Wording] = []


class WordedQuery(TypedDict):
    """What the node reads."""

    rag_query: str | None
    earlier: list[Turn]


async def rewrite_query(state: WordedQuery, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Rewrites the query, unless that is switched off or no model does it in time."""
    context, query = runtime.context, state["rag_query"] or ""
    chat = context.models.of("router")
    wanted = context.options.get("rewrite_query", context.limits.rewrite_query)
    if not wanted or chat is None or len(query) > LONGEST_WORDING:
        return {"path": ["rewrite_query"]}
    began, issues = time.perf_counter(), list[str]()
    worded = Rewritten(query=query)
    try:
        async with asyncio.timeout(REWRITE_SECONDS):
            worded = await _reworded(query, state["earlier"], context, chat)
    except (ChatError, TimeoutError) as error:
        issues = [f"the documents were searched by the message as it is: {error or 'the model took too long'}"]
        context.events.emit(ProviderIssue(message=issues[0]))
    return {
        "rag_query": worded.query,
        "rag_variants": [one for one in dict.fromkeys(worded.others) if one != worded.query][:MOST_OTHERS],
        "timings": {"rewrite_query": round(1000 * (time.perf_counter() - began), 1)},
        "path": ["rewrite_query"],
        "issues": issues,
    }


async def _reworded(query: str, earlier: Sequence[Turn], context: ConversationContext, chat: RoleChat) -> Rewritten:
    history = "\n".join(f"{turn['role']}: {turn['content'][:READ_CHARACTERS]}" for turn in earlier[-READ_TURNS:])
    prompt = context.prompts.rewrite_query.render(earlier=neutralised(history) or "(none)", message=neutralised(query))
    return await structured(chat, [ChatMessage("user", prompt)], Rewritten, max_tokens=REWRITE_TOKENS)
