"""A proposed version of an artifact."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from contracts.artifacts import ArtifactEvent, ArtifactKind, ArtifactView
from contracts.orchestrator import Citation


@dataclass(frozen=True)
class ArtifactProposal:
    """A full text, made from version `base_index`; None if there was no artifact yet.

    A proposal that is not `complete` is stored, but never becomes current.
    """

    event: ArtifactEvent
    base_index: int | None
    kind: ArtifactKind
    language: str | None
    title: str | None
    text: str
    citations: list[Citation] = field(default_factory=list)
    document_id: UUID | None = None
    complete: bool = True

    def changes(self, view: ArtifactView) -> bool:
        """Returns whether the proposal differs from the version."""
        now = (view.kind, view.language, view.title, view.text, view.document_id)
        return now != (self.kind, self.language, self.title, self.text, self.document_id)
