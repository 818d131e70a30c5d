"""Checks at process start that the models chosen by the operator and the workspaces exist."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Any
from uuid import UUID

from contracts.workspace_settings import RoleModel
from inference.settings import ChatSettings
from orchestrator.configuration.chosen import ChosenSettings
from orchestrator.configuration.repository import ConfigurationSql
from orchestrator.configuration.schema import OPERATOR
from orchestrator.configuration.store import ConfigurationStore
from orchestrator.models.role_listing import ModelListing
from service_kit.postgres import Database
from service_kit.repository import SystemRepository

MOST_ROLES = 3_000


@dataclass(frozen=True)
class ChosenRole:
    """The models that a workspace has chosen for a role."""

    workspace_id: UUID
    key: str
    value: list[dict[str, Any]]


async def check_roles(
    settings: ChatSettings, database: Database, configuration: ConfigurationStore, listing: ModelListing
) -> None:
    """Records missing models in `listing`. An unavailable provider does not keep the process from starting."""
    listing.missing.clear()
    if settings.chat_base_url is not None and settings.chat_model is not None:
        own = RoleModel(provider=OPERATOR, model=settings.chat_model)
        await listing.note("answer", [own], ChosenSettings(), None)
    async with database.system() as connection:
        found = await SystemRepository(connection).all(ConfigurationSql.with_roles, ChosenRole, limit=MOST_ROLES)
    for workspace_id, roles in groupby(found, key=lambda one: one.workspace_id):
        chosen = await configuration.chosen(workspace_id, None)
        for one in roles:
            models = [RoleModel.model_validate(model) for model in one.value]
            await listing.note(one.key.removeprefix("roles."), models, chosen, workspace_id)
