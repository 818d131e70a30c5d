"""The models that clients choose from, which determine how an answer is made, not which model writes it."""

from __future__ import annotations

from contracts.openai_api import ModelCard
from contracts.workspace_settings import Preset
from orchestrator.openai_api.errors import NothingWrites, UnknownOpenAIModel

DOCUMENTS, PLAIN = "attractor", "attractor-plain"
PREFIX = "attractor/"
CARDS = {
    DOCUMENTS: ModelCard(id=DOCUMENTS, created=0, description="Answers from the workspace's documents, with citations"),
    PLAIN: ModelCard(id=PLAIN, created=0, description="Answers with the chat model alone, without documents"),
}


def preset_name(model: str) -> str | None:
    """Returns the name of the preset in a model's name, None without one."""
    return model.removeprefix(PREFIX) if model.startswith(PREFIX) else None


def preset_card(preset: Preset) -> ModelCard:
    limits = [name for name in ("document_ids", "source_ids", "tags") if getattr(preset, name)]
    scope = "some of the workspace's documents" if limits else "the workspace's documents"
    created = int(preset.updated_at.timestamp())
    return ModelCard(id=f"{PREFIX}{preset.name}", created=created, description=f"A preset: answers from {scope}")


class Models:
    """`writes`: a chat model is configured. Without one, nothing can answer without documents."""

    def __init__(self, writes: bool) -> None:
        self.writes = writes

    def all(self) -> list[ModelCard]:
        return [card for name, card in CARDS.items() if self.writes or name != PLAIN]

    def find(self, name: str) -> ModelCard:
        """Returns a model that is not a preset. Raises UnknownOpenAIModel."""
        found = next((card for card in self.all() if card.id == name), None)
        if found is None:
            raise UnknownOpenAIModel
        return found

    def is_plain(self, name: str, is_task: bool) -> bool:
        """Returns whether the answer needs no documents. Raises UnknownOpenAIModel, NothingWrites.

        Does not check whether a preset of this name exists.
        """
        if preset_name(name) is None:
            self.find(name)
        if is_task and not self.writes:
            raise NothingWrites
        return is_task or name == PLAIN
