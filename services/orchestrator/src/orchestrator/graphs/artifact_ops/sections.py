"""Rewrites a text that is too long for the model section by section; nothing is left out."""

from __future__ import annotations

from typing import Protocol

from inference.chat import ChatMessage
from inference.estimate import estimated_prompt_tokens, estimated_tokens
from inference.role_chat import RoleChat
from orchestrator.artifacts.outline import headings, sections
from orchestrator.graphs.artifact_ops.fences import leaves_open
from orchestrator.graphs.artifact_ops.prompting import neutralised
from orchestrator.graphs.artifact_ops.recovery import TOO_LONG, SoftFailure
from orchestrator.graphs.artifact_ops.sources import ArtifactSources
from orchestrator.graphs.artifact_ops.writing import SectionRequest, check_room
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.passages import fitting, numbered
from orchestrator.graphs.conversation.state import ArtifactInTurn, FoundChunk

HEADING_TOKENS = 150  # for the headings before a section, and the same for those after it
MOST_SECTIONS = 40  # each needs a model call


class SectionPrompt(Protocol):
    """Returns the messages for a part of the text; `part` says which part it is."""

    def __call__(self, sources: ArtifactSources, text: str, part: str = "") -> list[ChatMessage]: ...


async def in_sections(
    chat: RoleChat,
    context: ConversationContext,
    artifact: ArtifactInTurn,
    passages: list[FoundChunk],
    asking: SectionPrompt,
) -> tuple[list[SectionRequest], list[FoundChunk]]:
    """Returns the messages for each section, and the passages that fit with them.

    Each section comes with the citations of the artifact that it uses. Raises SoftFailure if there are too many
    sections, or one is too long.
    """
    text, code = artifact["text"], artifact["kind"] == "code"
    kept = ArtifactSources.of(artifact["citations"], [], context.alike)
    bare = asking(kept.named_in(""), "", _part(context, ["", ""], 0))
    room = max(await chat.window() - estimated_prompt_tokens(bare) - 2 * HEADING_TOKENS, 0)
    most = min(context.limits.passage_tokens, room // 3)
    beside = list(fitting(passages, most)) if most else []
    room -= estimated_tokens(numbered(beside))
    # Two fifths for the section, two for its rewritten text, and one for citations.
    pieces = sections(text, max(2 * room // 5, 0), lambda piece: code or not leaves_open(piece))
    if not 1 < len(pieces) <= MOST_SECTIONS:
        raise SoftFailure(TOO_LONG)
    sources, requests = ArtifactSources.of(artifact["citations"], beside, context.alike), list[SectionRequest]()
    for at, piece in enumerate(pieces):
        messages = asking(sources.named_in(piece), piece, _part(context, pieces, at))
        await check_room(chat, messages, piece)
        requests.append(SectionRequest(messages, piece[len(piece.rstrip("\r\n")) :]))
    return requests, beside


def _part(context: ConversationContext, pieces: list[str], at: int) -> str:
    return context.artifact_prompts.render(
        "section",
        count=str(len(pieces)),
        number=str(at + 1),
        before=neutralised(headings("".join(pieces[:at]), HEADING_TOKENS)),
        after=neutralised(headings("".join(pieces[at + 1 :]), HEADING_TOKENS)),
    )
