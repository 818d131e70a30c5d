"""Closes statements about the present that a later document contradicts; both are kept with their evidence."""

from __future__ import annotations

from knowledge_graph.extraction.relation_types import DEPENDENCIES, STRUCTURAL
from knowledge_graph.recording.changes import Changes
from knowledge_graph.recording.names import RelatedPair
from service_kit.repository import Repository
from service_kit.statements import Statements


class ClosingSql(Statements, file="closings.sql"):
    follow: str


class Closings(Repository):
    """Which statements of a workspace are closed, and by which document."""

    async def follow(self, changes: Changes) -> None:
        """Judges again what the changed statements may close or reopen, and recomputes the sums of the affected pairs.

        A document is later than another by its date, by its edition in a series, or because it says that it replaces
        it. Documents without a date close nothing: their statements are kept with the others.
        """
        pairs = sorted(changes.stated | changes.resummed)
        if not pairs and not changes.superseding:
            return
        changed = await self.all(
            ClosingSql.follow,
            RelatedPair,
            source_ids=[source for source, _ in pairs],
            target_ids=[target for _, target in pairs],
            superseding=sorted(changes.superseding),
            structural=sorted(STRUCTURAL),
            dependencies=sorted(DEPENDENCIES),
        )
        changes.resummed |= {(one.source_id, one.target_id) for one in changed}
