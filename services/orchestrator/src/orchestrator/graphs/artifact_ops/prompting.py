"""The prompts of the artifact nodes, and their inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from contracts.prompt_fence import attribute, neutralising
from inference.prompts import Prompt, load_prompts

TOKENS: Mapping[str, tuple[str, ...]] = {
    "generate_text.md": ("now", "passages", "profile", "memories", "earlier"),
    "generate_code.md": ("now", "passages", "profile", "memories", "earlier"),
    "rewrite_text.md": ("now", "part", "document", "passages", "profile", "memories"),
    "rewrite_code.md": ("now", "part", "document", "passages", "profile", "memories"),
    "section.md": ("count", "number", "before", "after"),
    "update_artifact.md": ("now", "document", "passages", "profile", "memories"),
    "update_highlighted_text.md": ("now", "before", "selected", "after", "passages", "profile", "memories"),
    "generate_followup.md": ("done", "document"),
}
neutralised = neutralising("document", "before", "selected", "after", "passage", "memory", "summary")


@dataclass(frozen=True)
class ArtifactPrompts:
    """The prompts, loaded at start-up, so that a wrong token does not fail in a user's turn."""

    by_name: Mapping[str, Prompt]
    package: ClassVar[str] = "orchestrator.graphs.artifact_ops.prompts"

    @classmethod
    def load(cls) -> Self:
        """Raises PromptInvalid."""
        return cls(load_prompts(cls.package, TOKENS))

    def render(self, name: str, **values: str) -> str:
        return self.by_name[f"{name}.md"].render(**values)


def document(title: str | None, text: str) -> str:
    """Returns the artifact in a fence that its text cannot close."""
    named = f' title="{attribute(title)}"' if title else ""
    return f"<document{named}>\n{neutralised(text)}\n</document>"
