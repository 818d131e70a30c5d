"""Writes the first version of the artifact, or a replacement, from the passages."""

from __future__ import annotations

import re
from typing import Any

from langgraph.runtime import Runtime

from contracts.artifact_actions import ArtifactAction
from inference.chat import ChatMessage
from orchestrator.graphs.artifact_ops.sources import ArtifactSources
from orchestrator.graphs.artifact_ops.state import ActionState
from orchestrator.graphs.artifact_ops.working import heading, passages_that_fit, proposing, wish_of
from orchestrator.graphs.artifact_ops.writing import ArtifactWriting, SectionRequest, model_of
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.nodes.generate_title import trimmed
from orchestrator.graphs.conversation.nodes.reply_to_general_input import conversation
from orchestrator.graphs.conversation.passages import condensed, numbered, remembered

# The request is for a program, in English or German.
_CODE = re.compile(
    r"\b(?:code|script|function|program|class|unit tests?|dockerfile|makefile|sql query|regex"
    r"|skript|funktion|programm|klasse|sql-abfrage)\b",
    re.IGNORECASE,
)
_ABOUT_CODE = re.compile(
    r"\b(?:document|report|summary|page|memo|article|guide|overview|letter|e-?mail|plan|dokument|bericht|seite"
    r"|zusammenfassung|überblick|anleitung|brief|artikel)\b",
    re.IGNORECASE,
)


async def generate_artifact(state: ActionState, runtime: Runtime[ConversationContext]) -> dict[str, Any]:
    """Raises SoftFailure, BudgetExceeded."""
    context, wish = runtime.context, wish_of(state)
    chat, code = model_of(context), asks_for_code(wish)
    issues = list[str]()
    profile = await context.profile.text(issues)
    history = conversation(state["internal_messages"], state["answer_id"], context.limits.history_tokens)

    def messages(sources: ArtifactSources) -> list[ChatMessage]:
        prompt = context.artifact_prompts.render(
            "generate_code" if code else "generate_text",
            now=context.clock.description,
            passages=numbered(sources.chunks),
            profile=profile,
            memories=remembered(state["memories"]),
            earlier=condensed(state["internal_messages"]),
        )
        return [ChatMessage("system", prompt), *history]

    bare = messages(ArtifactSources.of([], [], context.alike))
    passages = await passages_that_fit(chat, context, state["passages"], bare, "")
    sources = ArtifactSources.of([], passages, context.alike)
    written = await ArtifactWriting(context, sources, ArtifactAction.generate_artifact, code).write(
        chat, [SectionRequest(messages(sources))]
    )
    written.issues[:0] = issues
    title = heading(written.text, code=code) or trimmed(wish)
    return proposing(
        state["artifact"],
        "rewrite" if state["artifact"] else "create",
        written,
        f"I wrote “{title}”, {len(written.text.split())} words, citing {len(written.citations)} passages."
        if not code
        else f"I wrote {len(written.text.splitlines())} lines of code.",
        language=written.language if code else None,
        title=title,
        kind="code" if code else "markdown",
    )


def asks_for_code(wish: str) -> bool:
    """Returns whether the wish is for a program, not for a text about one."""
    beginning = wish[:300]
    return bool(_CODE.search(beginning)) and not _ABOUT_CODE.search(beginning)
