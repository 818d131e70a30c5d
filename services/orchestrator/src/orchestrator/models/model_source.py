"""Where the models of a run come from: those of the operator."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from contracts.models import MODEL_ROLES
from inference.capabilities import SetCapabilities
from inference.endpoints import Endpoints
from inference.factory import chat_address
from inference.openai_chat import OpenAIChat
from inference.role_chat import Candidate, RoleChat
from inference.settings import ChatSettings
from orchestrator.models.run_models import RunModels

OPERATOR = "operator"


class ModelSource:
    """Gives each run its models; an endpoint is open as long as a run uses it."""

    def __init__(self, settings: ChatSettings, endpoints: Endpoints) -> None:
        self.settings, self.endpoints = settings, endpoints

    @asynccontextmanager
    async def for_run(self) -> AsyncIterator[RunModels]:
        """Yields the models of a run, which must not ask them after the block."""
        settings = self.settings
        if settings.chat_base_url is None or settings.chat_model is None:
            yield RunModels()
            return
        async with self.endpoints.using(chat_address(settings)) as endpoint:
            chat = OpenAIChat(endpoint, settings.chat_model, max_tokens=settings.chat_max_tokens)
            known = SetCapabilities(context_tokens=settings.chat_context_tokens)
            candidates = [Candidate(OPERATOR, chat, known)]
            yield RunModels({role: RoleChat(role, candidates) for role in MODEL_ROLES})
