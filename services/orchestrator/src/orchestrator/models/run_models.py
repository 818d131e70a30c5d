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
    """The models and the `settings` of a run; without a model for the role `answer`, it quotes its sources.

    `issues` say which models are left out, and why.
    """

    chats: Mapping[ModelRole, RoleChat] = field(default_factory=dict)
    settings: ChosenSettings = field(default_factory=ChosenSettings)
    issues: Sequence[str] = ()

    def of(self, role: ModelRole) -> RoleChat | None:
        return self.chats.get(role)

    @property
    def mode(self) -> AnswerMode:
        """Returns how answers are written, as long as the models work."""
        return AnswerMode.extractive if self.of("answer") is None else AnswerMode.model

    def options(self, requested: RunOptions) -> RunOptions:
        """Returns how to write an answer: as `requested`, and otherwise as in the settings.

        Instructions are combined, from the most general to the most specific.
        """
        options = requested.copy()
        if instructions := "\n\n".join(filter(None, (self.settings.instructions, requested.get("instructions")))):
            options["instructions"] = instructions
        if "temperature" not in options and self.settings.temperature is not None:
            options["temperature"] = self.settings.temperature
        return options
