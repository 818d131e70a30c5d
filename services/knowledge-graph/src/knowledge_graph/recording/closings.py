"""Closes what documents say of the present where a later one says otherwise; both are kept with their evidence."""

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
        """Judges anew what the changed statements may close or open; the sums of pairs that change are counted anew.

        A document is later than another by its date, by its edition of one series, or because it says that it takes
        its place. Documents without a date close nothing: what they say otherwise stands beside it.
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
