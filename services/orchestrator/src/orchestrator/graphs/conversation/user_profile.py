"""What is known of the user, for the prompt of an answer."""

from __future__ import annotations

from contracts.events import ProviderIssue
from contracts.memory import MemoryProfile
from orchestrator.graphs.conversation.context import ConversationContext
from orchestrator.graphs.conversation.passages import NONE, neutralised
from service_kit.problems import ServiceSilent

PROFILE_TOKENS = 300


async def known_of_user(context: ConversationContext, issues: list[str]) -> str:
    """Returns style and facts of the user's profile, fenced; an issue, and none of it, where memory is silent."""
    try:
        profile = await context.memory.profile(context.caller, PROFILE_TOKENS)
    except ServiceSilent as error:
        issues.append(str(error))
        context.events.emit(ProviderIssue(message=str(error)))
        return NONE
    return profile_text(profile)


def profile_text(profile: MemoryProfile) -> str:
    """Returns a line for each statement, none of which can end its fence."""
    return "\n".join(f"<memory>{neutralised(one)}</memory>" for one in [*profile.style, *profile.facts]) or NONE
