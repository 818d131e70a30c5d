"""The settings that a workspace and a user have chosen, as a run reads them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from contracts.models import BudgetSubject
from contracts.workspace_settings import RoleModel
from orchestrator.configuration.repository import StoredSetting
from orchestrator.configuration.schema import ROLES, address_key, budget_key, provider_of, secret_key
from orchestrator.configuration.sealing import SealBroken, SecretPlace, SecretSeal


@dataclass(frozen=True)
class ProviderAddress:
    """A provider of a workspace. `failure`: its key cannot be opened, so that it cannot be called."""

    name: str
    base_url: str
    api_key: str | None = field(default=None, repr=False)
    failure: str | None = None


@dataclass(frozen=True)
class ChosenSettings:
    """`instructions` are the workspace's, then the user's. A role without a list uses the operator's model.

    `budgets` are in tokens, besides the operator's.
    """

    instructions: str = ""
    temperature: float | None = None
    passages: int | None = None
    roles: Mapping[str, Sequence[RoleModel]] = field(default_factory=dict)
    providers: Mapping[str, ProviderAddress] = field(default_factory=dict)
    budgets: Mapping[BudgetSubject, int] = field(default_factory=dict)


def chosen(workspace_id: UUID, stored: Sequence[StoredSetting], seal: SecretSeal | None) -> ChosenSettings:
    """Returns the stored settings as a run reads them. `stored` is ordered by key, the user's last."""
    values: dict[str, Any] = {one.key: one.value for one in stored}
    instructions = [one.value for one in stored if one.key == "answers.instructions"]
    secrets = {one.key: one for one in stored if one.sealed is not None}
    roles = {role: values.get(f"roles.{role}") for role in ROLES}
    names = [name for one in stored if (name := provider_of(one.key)) and one.key == address_key(name)]
    return ChosenSettings(
        instructions="\n\n".join(instructions),
        temperature=values.get("answers.temperature"),
        passages=values.get("answers.passages"),
        roles={role: [RoleModel.model_validate(one) for one in models] for role, models in roles.items() if models},
        providers={
            name: _provider(workspace_id, name, values[address_key(name)], secrets.get(secret_key(name)), seal)
            for name in names
        },
        budgets={subject: values[key] for subject in BudgetSubject if (key := budget_key(subject)) in values},
    )


def _provider(
    workspace_id: UUID, name: str, base_url: str, stored: StoredSetting | None, seal: SecretSeal | None
) -> ProviderAddress:
    if stored is None or stored.secret is None:
        return ProviderAddress(name, base_url)
    if seal is None:
        return ProviderAddress(name, base_url, failure="its key cannot be opened: no SETTINGS_KEY is set")
    try:
        return ProviderAddress(name, base_url, seal.open(stored.secret, SecretPlace(workspace_id, stored.key)))
    except SealBroken as broken:
        return ProviderAddress(name, base_url, failure=f"its key cannot be opened: {broken}")
