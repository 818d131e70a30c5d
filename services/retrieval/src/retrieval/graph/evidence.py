"""What the knowledge graph says about chunks, and the seeds that it is queried with. No IO."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from contracts.graph_expansion import ExpandedChunk, PathStep
from contracts.retrieval import GraphStep

SCALE = 100
"""Best candidates whose scores are spread over 0 to 1, for the seeds."""
MOST_SEEDS = 8


@dataclass
class GraphEvidence:
    """What the graph says about one chunk. `link`, `bridge` and `near` (by hops) are features; `path` has names.

    `quoted` are the steps with the sentences that state them, for explanations.
    """

    chunk_id: str
    document_id: UUID
    link: float = 0.0
    about: float = 0.0
    bridge: float = 0.0
    near: float = 0.0
    path: list[str] = field(default_factory=list)
    steps: list[PathStep] = field(default_factory=list)
    quoted: list[GraphStep] = field(default_factory=list)

    @property
    def score(self) -> float:
        return self.link + self.bridge + self.near

    def add(self, one: ExpandedChunk, *, over_relations: bool) -> None:
        """Adds what the graph says about the chunk; the path with the better score is kept."""
        if one.score > self.score:
            self.path, self.steps = one.path, one.steps
        if over_relations:
            self.near = max(self.near, one.score)
        elif one.hop:
            self.bridge = max(self.bridge, one.score)
        else:
            self.link, self.about = max(self.link, one.score), max(self.about, one.about)

    def described_path(self) -> list[str]:
        """Returns the path's names, with the relation between two of them if it is known."""
        relations = {(step.source, step.target): step.relation for step in self.steps}
        names = self.path[:1]
        for source, target in zip(self.path, self.path[1:], strict=False):
            relation = relations.get((source, target))
            names += [relation, target] if relation else [target]
        return names


def seeds(scores: Mapping[int, float], evidence: Mapping[int, GraphEvidence]) -> dict[int, float]:
    """Returns the best candidates that have a name of the query, with scores from 0 to 1."""
    order = sorted(scores, key=lambda chunk: (-scores[chunk], chunk))
    if not order:
        return {}
    best, least = scores[order[0]], scores[order[min(SCALE, len(order)) - 1]]
    span = best - least
    return {
        chunk: min(1.0, (scores[chunk] - least) / span) if span > 0 else 1.0
        for chunk in order[:MOST_SEEDS]
        if chunk in evidence and evidence[chunk].link > 0
    }


def ranked(evidence: Mapping[int, GraphEvidence]) -> Sequence[tuple[int, float]]:
    """Returns (chunk, score), best first."""
    return sorted(((chunk, one.score) for chunk, one in evidence.items()), key=lambda one: (-one[1], one[0]))
