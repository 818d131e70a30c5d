"""The usage of a run in the form of chat completions. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from contracts.openai_api import ChatUsage, CompletionTokensDetails, PromptTokensDetails
from contracts.run_events import ModelCalled


def counted(calls: Sequence[ModelCalled]) -> ChatUsage:
    """Returns the totals of the calls, zero if the documents were quoted without a model."""
    sent, written = sum(call.input_tokens for call in calls), sum(call.output_tokens for call in calls)
    return ChatUsage(
        prompt_tokens=sent,
        completion_tokens=written,
        total_tokens=sent + written,
        prompt_tokens_details=PromptTokensDetails(cached_tokens=sum(call.cached_tokens for call in calls)),
        completion_tokens_details=CompletionTokensDetails(reasoning_tokens=sum(call.thinking_tokens for call in calls)),
    )
