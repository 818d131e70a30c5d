"""Provides the models of a run: those that its workspace has chosen, otherwise the operator's."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from uuid import UUID

from contracts.models import MODEL_ROLES, ModelRole
from contracts.openai_api import BreakerState
from contracts.run_events import ProviderIssue, RunEventData
from contracts.workspace_settings import RoleModel
from inference.capabilities import SetCapabilities
from inference.endpoints import Endpoints
from inference.errors import InvalidApiKey
from inference.openai_chat import OpenAIChat
from inference.role_chat import RoleCandidate, RoleChat
from inference.settings import ChatSettings
from orchestrator.configuration.chosen import ChosenSettings, ProviderAddress
from orchestrator.configuration.repository import StoredSetting
from orchestrator.configuration.schema import OPERATOR
from orchestrator.configuration.store import ConfigurationStore
from orchestrator.errors import ProviderUnusable
from orchestrator.models.role_listing import address_of
from orchestrator.models.run_models import RunModels
from orchestrator.runs.records import ClaimedRun
from orchestrator.usage.metering import CallMeter
from orchestrator.usage.model_metrics import ModelMetrics
from orchestrator.usage.spender import Spender, TokenLimits
from service_kit.postgres import Database


class ModelSource:
    """Provides each run's models; an endpoint stays open as long as a run uses it."""

    def __init__(
        self,
        settings: ChatSettings,
        endpoints: Endpoints,
        database: Database,
        limits: TokenLimits,
        configuration: ConfigurationStore,
        metrics: ModelMetrics,
    ) -> None:
        self.settings, self.endpoints, self.database, self.limits = settings, endpoints, database, limits
        self.configuration, self.metrics = configuration, metrics

    @property
    def is_configured(self) -> bool:
        """Returns whether the operator has configured a model."""
        return self.settings.chat_base_url is not None and self.settings.chat_model is not None

    async def limits_of(self, workspace_id: UUID) -> TokenLimits:
        """Returns the operator's limits, lowered to what the workspace has chosen for itself."""
        return self.limits.lowered((await self.configuration.chosen(workspace_id, None)).budgets)

    @asynccontextmanager
    async def for_run(
        self, run: ClaimedRun, settings: Sequence[StoredSetting], tell: Callable[[RunEventData], None]
    ) -> AsyncIterator[RunModels]:
        """Yields the models of a run, which must not call them after the block. `tell` receives their usage.

        A model whose provider cannot be used is left out and reported as an issue; a role without any left uses the
        operator's. Artifacts are written by the models for answers unless others were chosen.
        """
        chosen = self.configuration.chosen_of(run.workspace_id, settings)
        spender = Spender(run.workspace_id, run.created_by, run.key_id, run.id, run.attempts)
        meter = CallMeter(self.database, spender, self.limits.lowered(chosen.budgets), tell, self.metrics)
        async with AsyncExitStack() as stack:
            chats, issues = dict[ModelRole, RoleChat](), dict[str, None]()
            for role in MODEL_ROLES:
                models = _chosen(run, chosen, role)
                if role == "artifact" and not models:
                    models = _chosen(run, chosen, "answer")
                candidates = await self._candidates(stack, models, chosen.providers, issues)
                candidates = candidates or await self._candidates(stack, self._operators(), {}, issues)
                if candidates:
                    chats[role] = RoleChat(role, candidates, meter)
            for issue in issues:
                tell(ProviderIssue(message=issue))
            yield RunModels(chats, chosen, list(issues))

    async def breakers(
        self, workspace_id: UUID, user_id: UUID, chosen: Sequence[Sequence[RoleModel]]
    ) -> list[BreakerState | None]:
        """Returns, for each choice of models for answers, the breaker state of the one that is asked first.

        Without a choice, the workspace's models count, otherwise the operator's. None if no model can be asked.
        """
        settings = await self.configuration.chosen(workspace_id, user_id)
        usual = settings.roles.get("answer") or self._operators()
        return [self._breaker(models or usual, settings.providers) for models in chosen]

    def _breaker(self, models: Sequence[RoleModel], providers: Mapping[str, ProviderAddress]) -> BreakerState | None:
        for one in models:
            try:
                return self.endpoints.state(address_of(self.settings, one.provider, providers))
            except ProviderUnusable:
                continue
        return None

    def _operators(self) -> list[RoleModel]:
        model = self.settings.chat_model
        return [RoleModel(provider=OPERATOR, model=model)] if self.is_configured and model else []

    async def _candidates(
        self,
        stack: AsyncExitStack,
        models: Sequence[RoleModel],
        providers: Mapping[str, ProviderAddress],
        issues: dict[str, None],
    ) -> list[RoleCandidate]:
        """Returns the candidates; adds those left out to `issues`."""
        candidates = []
        for one in models:
            try:
                address = address_of(self.settings, one.provider, providers)
                endpoint = await stack.enter_async_context(self.endpoints.using(address))
            except (ProviderUnusable, InvalidApiKey) as error:
                issues[f"{one.model} of {one.provider} is not asked: {error}"] = None
                continue
            chat = OpenAIChat(endpoint, one.model, max_tokens=self.settings.chat_max_tokens)
            tokens = one.context_tokens
            if tokens is None and one.provider == OPERATOR:
                tokens = self.settings.chat_context_tokens
            known = SetCapabilities(context_tokens=tokens, vision=one.vision)
            candidates.append(RoleCandidate(one.provider, chat, known))
        return candidates


def _chosen(run: ClaimedRun, chosen: ChosenSettings, role: ModelRole) -> Sequence[RoleModel]:
    """Returns the models for the role that the request names, otherwise the workspace's."""
    roles = [RoleModel.model_validate(one) for one in run.options.get("roles", {}).get(role, ())]
    return roles or chosen.roles.get(role, ())
