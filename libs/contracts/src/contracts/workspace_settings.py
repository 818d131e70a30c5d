"""Settings of users and workspaces: the available ones, and their values."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from contracts.base import Request, Resource, plain

MOST_CANDIDATES = 5
SettingKey = Annotated[
    str,
    StringConstraints(min_length=1, max_length=100, pattern="^[a-z0-9_-]+(\\.[a-z0-9_-]+)+$"),
    AfterValidator(plain),
]


class SettingScope(StrEnum):
    """Whose setting it is. A user's settings take precedence over the workspace's, and those over the defaults."""

    user = "user"
    workspace = "workspace"


class SettingSource(StrEnum):
    """Where a value comes from."""

    user = "user"
    workspace = "workspace"
    default = "default"


class SettingSchema(Resource):
    """An available setting. For a family, `key` contains a `{name}` that callers choose: lowercase letters, digits, -
    and _.

    `value_schema` is the JSON Schema of its value. A secret can be set, replaced and deleted, but is never returned.
    """

    key: str
    category: str
    description: str
    scopes: list[SettingScope]
    is_secret: bool
    default: Any
    value_schema: dict[str, Any]


class SettingList(Resource):
    """The available settings, by category and key."""

    items: list[SettingSchema]


class SettingState(Resource):
    """The setting in effect for the caller, or with `scope=workspace` for the workspace. A secret's `value` is null.

    `is_set`: it differs from the default. `updated_at` is null for defaults.
    """

    key: str
    category: str
    value: Any
    is_secret: bool
    is_set: bool
    source: SettingSource
    updated_at: datetime | None


class SettingStates(Resource):
    items: list[SettingState]


class SettingPut(Request):
    """`value` must match the setting's schema."""

    value: Any


class RoleModel(Request):
    """A provider's model: one of the workspace's providers by name, or the operator's (`operator`).

    `context_tokens` (the window) and `vision` (it sees images) are what the model can do, if its endpoint does not
    report it or reports it wrongly.
    """

    provider: Annotated[str, StringConstraints(min_length=1, max_length=32, pattern="^[a-z0-9_-]+$")]
    model: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
    context_tokens: Annotated[int, Field(ge=256, le=100_000_000)] | None = None
    vision: bool | None = None


RoleModels = Annotated[list[RoleModel], Field(min_length=1, max_length=MOST_CANDIDATES)]


PresetName = Annotated[
    str, StringConstraints(min_length=1, max_length=64, pattern="^[a-z0-9][a-z0-9_-]*$"), AfterValidator(plain)
]
ChosenRole = Literal["router", "answer", "artifact", "summary", "title", "vision"]
PresetTag = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]


class PresetPut(Request):
    """How to answer requests for the model `attractor/NAME`; what is not given keeps its usual value.

    `instructions` are for chat models; they cannot turn off the check of citations. `roles` lists models by role, in
    order of preference. The answer draws on documents that are among `document_ids`, from one of the sources and with
    one of the tags, as far as these are given. `footnotes`: chat completions end with the list of their sources;
    without it they do.
    """

    instructions: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=8_000)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    roles: dict[ChosenRole, RoleModels] = {}
    document_ids: Annotated[list[UUID], Field(min_length=1, max_length=1_000)] | None = None
    source_ids: Annotated[list[UUID], Field(min_length=1, max_length=100)] | None = None
    tags: Annotated[list[PresetTag], Field(min_length=1, max_length=100)] | None = None
    footnotes: bool | None = None

    @model_validator(mode="after")
    def _says_something(self) -> PresetPut:
        if self == PresetPut.model_construct():
            raise ValueError("give it at least one of its fields: instructions, models, a scope")
        return self


class Preset(Resource):
    """A preset of the caller, or of the workspace."""

    name: str
    scope: SettingScope
    instructions: str | None
    temperature: float | None
    roles: dict[ChosenRole, list[RoleModel]]
    document_ids: list[UUID] | None
    source_ids: list[UUID] | None
    tags: list[str] | None
    footnotes: bool | None = None
    updated_at: datetime


class Presets(Resource):
    items: list[Preset]
