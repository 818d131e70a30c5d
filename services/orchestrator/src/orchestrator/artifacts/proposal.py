"""What someone makes of an artifact."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from contracts.artifacts import ArtifactEvent, ArtifactKind, ArtifactView
from contracts.orchestrator import Citation


@dataclass(frozen=True)
class ArtifactProposal:
    """A whole text, made from version `base_index`; None where there was no artifact yet.

    One that is not `complete` is kept, but never becomes current.
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
        """Returns whether anything would be different."""
        now = (view.kind, view.language, view.title, view.text, view.document_id)
        return now != (self.kind, self.language, self.title, self.text, self.document_id)
