"""The models of one run, by role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from contracts.models import ModelRole
from contracts.orchestrator import AnswerMode
from inference.role_chat import RoleChat


@dataclass(frozen=True)
class RunModels:
    """Without a model for the role `answer` a run quotes its sources."""

    chats: Mapping[ModelRole, RoleChat] = field(default_factory=dict)

    def of(self, role: ModelRole) -> RoleChat | None:
        return self.chats.get(role)

    @property
    def mode(self) -> AnswerMode:
        """Returns how answers are written as long as the models work."""
        return AnswerMode.extractive if self.of("answer") is None else AnswerMode.model
