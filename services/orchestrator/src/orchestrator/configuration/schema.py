"""Defines the settings and the form of their values. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, get_args

from pydantic import AfterValidator, Field, StringConstraints, TypeAdapter, ValidationError

from contracts.base import plain
from contracts.models import BudgetSubject
from contracts.workspace_settings import ChosenRole, RoleModels, SettingSchema, SettingScope
from orchestrator.errors import SettingInvalid, UnknownSetting

BOTH = (SettingScope.user, SettingScope.workspace)
WORKSPACE = (SettingScope.workspace,)
ROLES: tuple[ChosenRole, ...] = get_args(ChosenRole)
_NAME = re.compile(r"[a-z0-9_-]{1,32}")
_WEB_ADDRESS = re.compile(r"https?://[!-~]+")
OPERATOR = "operator"
PURPOSES: dict[ChosenRole, str] = {
    "router": "decide what a message asks for, where its wording does not",
    "answer": "write answers",
    "artifact": "write the texts that sessions work on",
    "summary": "condense older messages",
    "title": "name sessions",
    "vision": "answer from images",
}
SPENDERS = {
    BudgetSubject.run: "one run",
    BudgetSubject.user: "each user a day (UTC)",
    BudgetSubject.key: "each API key a day (UTC)",
    BudgetSubject.workspace: "all users together a day (UTC)",
}

Instructions = Annotated[
    str, StringConstraints(strict=True, strip_whitespace=True, min_length=1, max_length=8_000), AfterValidator(plain)
]
Temperature = Annotated[float, Field(ge=0, le=2, strict=True)]
Passages = Annotated[int, Field(ge=1, le=50, strict=True)]
Tokens = Annotated[int, Field(ge=1, le=10**12, strict=True)]


def _web_address(url: str) -> str:
    if _WEB_ADDRESS.fullmatch(url) is None:
        raise ValueError("an address begins with http:// or https:// and has no spaces")
    return url


Address = Annotated[
    str, StringConstraints(strict=True, max_length=500), AfterValidator(_web_address), AfterValidator(plain)
]
Secret = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=1_000, pattern="^[!-~]+$")]


def budget_key(subject: BudgetSubject) -> str:
    return f"budgets.{subject.value}"


@dataclass(frozen=True)
class SettingDefinition:
    """A setting, or with `{name}` in its key a family of settings."""

    key: str
    category: str
    description: str
    scopes: Sequence[SettingScope]
    kind: Any
    is_secret: bool = False

    @cached_property
    def form(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.kind)

    @property
    def is_family(self) -> bool:
        return "{name}" in self.key

    def covers(self, key: str) -> bool:
        if not self.is_family:
            return key == self.key
        before, after = self.key.split("{name}")
        if not (key.startswith(before) and key.endswith(after) and len(key) > len(before) + len(after)):
            return False
        name = key[len(before) : -len(after)]
        return _NAME.fullmatch(name) is not None and name != OPERATOR

    def parse(self, value: Any) -> Any:
        """Returns the value to store. Raises SettingInvalid, which reveals nothing of a secret."""
        try:
            return self.form.dump_python(self.form.validate_python(value), mode="json", exclude_none=True)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            place = ".".join(map(str, ("value", *first["loc"])))
            raise SettingInvalid(f"{place}: {first['msg']}") from None

    def as_schema(self) -> SettingSchema:
        return SettingSchema(
            key=self.key,
            category=self.category,
            description=self.description,
            scopes=list(self.scopes),
            is_secret=self.is_secret,
            default=None,
            value_schema=self.form.json_schema(),
        )


DEFINITIONS = (
    SettingDefinition(
        "answers.instructions",
        "answers",
        "How chat models are to write answers. They do not switch the check of citations off",
        BOTH,
        Instructions,
    ),
    SettingDefinition(
        "answers.passages",
        "answers",
        "Chunks that an answer may draw on; without it SEARCH_K of the operator",
        WORKSPACE,
        Passages,
    ),
    SettingDefinition(
        "answers.temperature", "answers", "How freely chat models write; without it 0.2", BOTH, Temperature
    ),
    *(
        SettingDefinition(
            budget_key(subject),
            "budgets",
            f"Most tokens of chat models for {spender}; a lower limit of the operator stays in force",
            WORKSPACE,
            Tokens,
        )
        for subject, spender in SPENDERS.items()
    ),
    SettingDefinition(
        "providers.{name}.api_key",
        "providers",
        "The key that a provider of the workspace is asked with",
        WORKSPACE,
        Secret,
        is_secret=True,
    ),
    SettingDefinition(
        "providers.{name}.base_url",
        "providers",
        "The address of a provider that speaks the OpenAI API; that of most ends in /v1",
        WORKSPACE,
        Address,
    ),
    *(
        SettingDefinition(
            f"roles.{role}",
            "roles",
            f"The models that {PURPOSES[role]}, in order: the next one is asked if one fails. "
            + ("Without it those of the role answer" if role == "artifact" else "Without it the operator's model"),
            WORKSPACE,
            RoleModels,
        )
        for role in ROLES
    ),
)


def defined(key: str, scope: SettingScope) -> SettingDefinition:
    """Returns the definition. Raises UnknownSetting."""
    found = next((one for one in DEFINITIONS if one.covers(key)), None)
    if found is None:
        raise UnknownSetting
    if scope not in found.scopes:
        raise UnknownSetting(f"{key} is the workspace's alone (scope=workspace, in the command --workspace)")
    return found


def address_key(provider: str) -> str:
    return f"providers.{provider}.base_url"


def secret_key(provider: str) -> str:
    return f"providers.{provider}.api_key"


def provider_of(key: str) -> str | None:
    """Returns the provider's name if the key is one of a provider's two settings."""
    parts = key.split(".")
    return parts[1] if len(parts) == 3 and parts[0] == "providers" else None
