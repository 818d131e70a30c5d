"""Checks whether the models of roles exist: when they are chosen, and when the process starts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from contracts.workspace_settings import RoleModel
from inference.endpoints import EndpointAddress, Endpoints
from inference.errors import ProviderError
from inference.factory import chat_address
from inference.provider import Timeouts
from inference.settings import ChatSettings
from orchestrator.configuration.chosen import ChosenSettings, ProviderAddress
from orchestrator.configuration.schema import OPERATOR
from orchestrator.errors import ModelNotListed, ProviderUnusable

log = logging.getLogger(__name__)
LISTING_SECONDS = 15.0


def address_of(settings: ChatSettings, name: str, providers: Mapping[str, ProviderAddress]) -> EndpointAddress:
    """Returns the address of a provider. Raises ProviderUnusable."""
    if name == OPERATOR:
        if settings.chat_base_url is None:
            raise ProviderUnusable(f"{name}: no CHAT_BASE_URL is set")
        return chat_address(settings)
    provider = providers.get(name)
    if provider is None:
        raise ProviderUnusable(f"{name}: the workspace has no such provider")
    if provider.failure is not None:
        raise ProviderUnusable(f"{name}: {provider.failure}")
    timeouts = Timeouts(connect=settings.chat_connect_timeout_seconds, read=settings.chat_timeout_seconds)
    return EndpointAddress(provider.base_url, provider.api_key, timeouts, is_guarded=True)


@dataclass
class ModelListing:
    """Asks providers for their models. `missing` describes the models that did not exist at the start."""

    settings: ChatSettings
    endpoints: Endpoints
    missing: list[str] = field(default_factory=list)

    async def check(self, models: Sequence[RoleModel], providers: Mapping[str, ProviderAddress]) -> None:
        """Raises ModelNotListed, ProviderUnusable."""
        lists: dict[str, list[str]] = {}
        for name in dict.fromkeys(one.provider for one in models):
            lists[name] = await self._models(name, providers)
        absent = [f"{one.model} of {one.provider}" for one in models if one.model not in lists[one.provider]]
        if absent:
            raise ModelNotListed(", ".join(absent))

    async def note(
        self, role: str, models: Sequence[RoleModel], chosen: ChosenSettings, workspace: UUID | None
    ) -> None:
        """Logs missing models and adds them to `missing`."""
        try:
            await self.check(models, chosen.providers)
        except (ModelNotListed, ProviderUnusable) as problem:
            where = f" of workspace {workspace}" if workspace else ""
            self.missing.append(f"role {role}{where}: {problem.detail}")
            log.warning(
                "a role names a model that its provider does not list", extra={"role": role, "reason": self.missing[-1]}
            )

    async def missing_fact(self) -> list[str]:
        """Returns `missing`, for /readyz."""
        return self.missing

    async def _models(self, name: str, providers: Mapping[str, ProviderAddress]) -> list[str]:
        address = address_of(self.settings, name, providers)
        try:
            async with asyncio.timeout(LISTING_SECONDS), self.endpoints.using(address) as endpoint:
                return await endpoint.list_models()
        except TimeoutError:
            raise ProviderUnusable(f"{name}: it did not list its models within {LISTING_SECONDS:.0f} seconds") from None
        except ProviderError as error:
            raise ProviderUnusable(f"{name}: {error}") from error
