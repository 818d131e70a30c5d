"""Where the models of a run come from: those of the operator."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from contracts.events import RunEventData
from contracts.models import MODEL_ROLES
from inference.capabilities import SetCapabilities
from inference.endpoints import Endpoints
from inference.factory import chat_address
from inference.openai_chat import OpenAIChat
from inference.role_chat import RoleCandidate, RoleChat
from inference.settings import ChatSettings
from orchestrator.models.run_models import RunModels
from orchestrator.runs.records import ClaimedRun
from orchestrator.usage.metering import CallMeter
from orchestrator.usage.spender import Spender, TokenLimits
from service_kit.postgres import Database

OPERATOR = "operator"


class ModelSource:
    """Gives each run its models; an endpoint is open as long as a run uses it."""

    def __init__(self, settings: ChatSettings, endpoints: Endpoints, database: Database, limits: TokenLimits) -> None:
        self.settings, self.endpoints, self.database, self.limits = settings, endpoints, database, limits

    @property
    def is_configured(self) -> bool:
        """Tells whether there is a model to ask at all."""
        return self.settings.chat_base_url is not None and self.settings.chat_model is not None

    @asynccontextmanager
    async def for_run(self, run: ClaimedRun, tell: Callable[[RunEventData], None]) -> AsyncIterator[RunModels]:
        """Yields the models of a run, which must not ask them after the block. `tell` takes what they took."""
        settings = self.settings
        if settings.chat_base_url is None or settings.chat_model is None:
            yield RunModels()
            return
        async with self.endpoints.using(chat_address(settings)) as endpoint:
            chat = OpenAIChat(endpoint, settings.chat_model, max_tokens=settings.chat_max_tokens)
            known = SetCapabilities(context_tokens=settings.chat_context_tokens)
            candidates = [RoleCandidate(OPERATOR, chat, known)]
            spender = Spender(run.workspace_id, run.created_by, run.key_id, run.id, run.attempts)
            meter = CallMeter(self.database, spender, self.limits, tell)
            yield RunModels({role: RoleChat(role, candidates, meter) for role in MODEL_ROLES})
