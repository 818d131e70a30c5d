"""Adds to an answer what was so, is planned, or is denied."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from contracts.graph_tools import AnswerRow
from knowledge_graph.extraction.tenses import NEGATED, PAST, PLANNED
from knowledge_graph.graph_store import Direction, StoredEntity, StoredStatement
from knowledge_graph.tools.structure.sources import Edge, StatingPlaces

STATUSES = (PAST, PLANNED, NEGATED)
MOST_STATEMENTS = 400


@dataclass(frozen=True)
class OtherTimes:
    """Statements about one entity that are not current, in one direction; only the latest per other end."""

    statements: tuple[StoredStatement, ...]
    direction: Direction
    names: dict[str, StoredEntity]

    @classmethod
    def of(
        cls, found: Sequence[StoredStatement], entity_id: str, direction: Direction, entities: Sequence[StoredEntity]
    ) -> OtherTimes:
        names = {one.id: one for one in entities}
        latest: dict[str, StoredStatement] = {}
        for one in found:
            near, far = (one.target_id, one.source_id) if direction == "in" else (one.source_id, one.target_id)
            if near == entity_id and far in names:
                # For a question about the present, past and denied are the same; the latest statement says which.
                latest.setdefault(f"{far} {one.status == PLANNED}", one)
        return cls(tuple(latest.values()), direction, names)

    @property
    def places(self) -> dict[Edge, StoredStatement]:
        return {_edge(one): one for one in self.statements}

    def only(self, status: str) -> OtherTimes:
        """Returns the statements of one status."""
        return replace(self, statements=tuple(one for one in self.statements if one.status == status))

    def about(self, other_id: str) -> OtherTimes:
        """Returns the statements about one other end."""
        return replace(self, statements=tuple(one for one in self.statements if self._far(one) == other_id))

    def of_direct(self, indirect: Iterable[str]) -> OtherTimes:
        """Returns the statements without denials about `indirect` ends: what is denied of them is a direct relation."""
        over_others = set(indirect)

        def is_kept(one: StoredStatement) -> bool:
            return one.status == PLANNED or self._far(one) not in over_others

        return replace(self, statements=tuple(filter(is_kept, self.statements)))

    def rows(self, sources: StatingPlaces) -> list[AnswerRow]:
        """Returns the other ends by status and name, each with its source number."""
        rows = []
        for one in self.statements:
            other = self.names[self._far(one)]
            rows.append(
                AnswerRow(
                    id=other.id,
                    name=other.name,
                    entity_type=other.entity_type,
                    depth=1,
                    source=sources.number(_edge(one)),
                    status=one.status,
                    dated=one.dated,
                )
            )
        return sorted(rows, key=lambda row: (STATUSES.index(row.status), row.name.casefold(), row.id))

    def _far(self, one: StoredStatement) -> str:
        return one.source_id if self.direction == "in" else one.target_id


def _edge(one: StoredStatement) -> Edge:
    return one.source_id, one.target_id, one.status
