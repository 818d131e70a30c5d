"""Builds the hits, explanations and reports of a response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any
from uuid import UUID

from contracts.retrieval import Duplicate, Highlight, Hit, HitExplanation, LegReport, LegScore
from retrieval.highlights.scoring import ScoredSpan
from retrieval.reading.leg import Timed
from retrieval.reading.reader import IndexedChunk
from retrieval.search.candidates import Candidates
from retrieval.search.selection import Selected

OF_THE_CHUNK = [one.name for one in fields(IndexedChunk) if one.name in Hit.model_fields]


def hit(
    workspace_id: UUID,
    selected: Selected,
    number: int,
    spans: Sequence[ScoredSpan],
    shown: Mapping[str, Any],
    explanation: HitExplanation | None,
) -> Hit:
    chunk = selected.chunks[number]
    duplicates = [selected.chunks[one] for one in selected.duplicates.get(number, [])]
    return Hit(
        **{name: getattr(chunk, name) for name in OF_THE_CHUNK},
        boxes=chunk.boxes(),
        workspace_id=workspace_id,
        score=selected.scores[number],
        highlights=[Highlight(start=one.start, end=one.end, score=one.score) for one in spans],
        duplicates=[
            Duplicate(chunk_id=one.chunk_id, document_id=one.document_id, document_name=one.document_name)
            for one in duplicates
        ],
        around=selected.around.get(number),
        **shown,
        explanation=explanation,
    )


def shown(chunk: int, candidates: Candidates) -> dict[str, Any]:
    """Returns the fields of a hit that legs know."""
    return {name: value for leg in candidates.heard for name, value in leg.shown(chunk).items()}


def explanation(chunk: int, candidates: Candidates, order: Sequence[int]) -> HitExplanation:
    """Explains a hit: its rank and score in each leg, what the legs say of it, and its rank in the fused `order`."""
    legs, fields = {}, dict[str, list[Any]](matched_terms=[])
    for number, leg_query in enumerate(candidates.wordings):
        for leg in leg_query.legs.values():
            if leg not in candidates.reported:
                continue
            rank = next((rank for rank, one in enumerate(leg.found, 1) if one.chunk == chunk), None)
            legs[leg.name] = LegScore(rank=rank, score=candidates.score_of(leg, number, chunk))
            for name, values in leg.explanation(chunk).items() if not leg.void else ():
                known = fields.setdefault(name, [])
                known += [value for value in values if value not in known]
    return HitExplanation(
        legs=legs,
        features=candidates.features(chunk),
        weights=dict(candidates.rule.space.weights),
        fused_score=candidates.by_chunk()[chunk],
        fused_rank=order.index(chunk) + 1,
        **fields,
    )


def report(leg: Timed) -> LegReport:
    return LegReport(
        leg=leg.name,
        candidates=len(leg.found),
        milliseconds=round(leg.milliseconds, 2),
        method=leg.method,
        error=leg.error,
    )
