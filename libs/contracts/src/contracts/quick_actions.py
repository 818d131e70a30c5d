"""Quick actions: named prompts of a user or a workspace."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, StringConstraints, model_validator

from contracts.base import Name, Request, Resource, storable

QuickPrompt = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=10_000), AfterValidator(storable)
]


class QuickActionTarget(StrEnum):
    """`artifact`: the session's artifact is rewritten as the prompt says. `message`: the answer follows the prompt."""

    artifact = "artifact"
    message = "message"


class QuickActionCreate(Request):
    """A `shared` one is for all members of the workspace, and requires the role editor.

    With `use_history` the model also reads the session's conversation; with `use_preferences`, what memory knows about
    the user and the user's preferred style.
    """

    name: Name
    prompt: QuickPrompt
    target: QuickActionTarget = QuickActionTarget.artifact
    use_history: bool = False
    use_preferences: bool = True
    shared: bool = False


class QuickActionUpdate(Request):
    """Only the given fields change."""

    name: Name | None = None
    prompt: QuickPrompt | None = None
    target: QuickActionTarget | None = None
    use_history: bool | None = None
    use_preferences: bool | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> QuickActionUpdate:
        if all(value is None for value in self.model_dump().values()):
            raise ValueError("nothing to change")
        return self


class QuickAction(Resource):
    """Use `version` in If-Match when changing it."""

    id: UUID
    name: str
    prompt: str
    target: QuickActionTarget
    use_history: bool
    use_preferences: bool
    shared: bool
    created_by: UUID
    created_at: datetime
    updated_at: datetime
    version: int
