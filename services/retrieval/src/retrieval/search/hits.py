"""Builds the hits, explanations and reports of a response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from uuid import UUID

from contracts.retrieval import Duplicate, Highlight, Hit, HitExplanation, LegReport, LegScore
from retrieval.graph.evidence import GraphEvidence
from retrieval.graph.leg import GraphLeg
from retrieval.highlights.scoring import ScoredSpan
from retrieval.reading.leg import Leg
from retrieval.reading.reader import IndexedChunk
from retrieval.search.candidates import Candidates
from retrieval.search.selection import Selected

OF_THE_CHUNK = [one.name for one in fields(IndexedChunk) if one.name in Hit.model_fields]


def hit(
    workspace_id: UUID,
    selected: Selected,
    number: int,
    spans: Sequence[ScoredSpan],
    evidence: GraphEvidence | None,
    explanation: HitExplanation | None,
) -> Hit:
    chunk = selected.chunks[number]
    duplicates = [selected.chunks[one] for one in selected.duplicates.get(number, [])]
    return Hit(
        **{name: getattr(chunk, name) for name in OF_THE_CHUNK},
        workspace_id=workspace_id,
        score=selected.scores[number],
        highlights=[Highlight(start=one.start, end=one.end, score=one.score) for one in spans],
        duplicates=[
            Duplicate(chunk_id=one.chunk_id, document_id=one.document_id, document_name=one.document_name)
            for one in duplicates
        ],
        around=selected.around.get(number),
        graph_path=evidence.described_path() if evidence and len(evidence.path) > 1 else [],
        explanation=explanation,
    )


def explanation(
    chunk: int, candidates: Candidates, legs: Sequence[Leg], graph: GraphLeg | None = None
) -> HitExplanation:
    """Explains a hit: rank and score in each leg that found it; `lexical` and `dense` also score other legs' hits."""
    exact = {"lexical": candidates.bm25, "dense": candidates.cosines}
    says = graph.evidence.get(chunk) if graph else None
    found = {}
    for leg in legs:
        rank, score = next(
            ((rank, one.score) for rank, one in enumerate(leg.found, 1) if one.chunk == chunk), (None, None)
        )
        found[leg.name] = LegScore(rank=rank, score=exact[leg.name].get(chunk) if leg.name in exact else score)
    return HitExplanation(
        legs=found,
        features=candidates.features[chunk].as_dict(),
        weights=candidates.rule.space.weights.as_dict(),
        matched_terms=candidates.matched(chunk),
        graph_steps=says.quoted if says else [],
        fused_score=candidates.scores[chunk],
        fused_rank=candidates.best(len(candidates.scores)).index(chunk) + 1,
    )


def report(leg: Leg) -> LegReport:
    return LegReport(
        leg=leg.name,
        candidates=len(leg.candidates),
        milliseconds=round(leg.milliseconds, 2),
        method=leg.method,
        error=leg.error,
    )
