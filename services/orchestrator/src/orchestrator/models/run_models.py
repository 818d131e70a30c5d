"""The models of one run, by role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from contracts.models import ModelRole
from contracts.orchestrator import AnswerMode
from inference.role_chat import RoleChat
from orchestrator.configuration.chosen import ChosenSettings
from orchestrator.runs.records import RunOptions


@dataclass(frozen=True)
class RunModels:
    """Quotes its sources where there is no model for the role `answer`. `settings` are what it is to follow.

    `issues` tell which models are left out, and why.
    """

    chats: Mapping[ModelRole, RoleChat] = field(default_factory=dict)
    settings: ChosenSettings = field(default_factory=ChosenSettings)
    issues: Sequence[str] = ()

    def of(self, role: ModelRole) -> RoleChat | None:
        return self.chats.get(role)

    @property
    def mode(self) -> AnswerMode:
        """Returns how answers are written as long as the models work."""
        return AnswerMode.extractive if self.of("answer") is None else AnswerMode.model

    def options(self, asked: RunOptions) -> RunOptions:
        """Returns how an answer is to be written: as `asked`, and where that does not say as the settings do.

        Instructions add up, from the most general to the most particular.
        """
        options = asked.copy()
        if instructions := "\n\n".join(filter(None, (self.settings.instructions, asked.get("instructions")))):
            options["instructions"] = instructions
        if "temperature" not in options and self.settings.temperature is not None:
            options["temperature"] = self.settings.temperature
        return options
