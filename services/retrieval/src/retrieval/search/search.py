"""The search: the legs at the same time in one snapshot, fused, the best with their sentences."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

import psycopg

from contracts.retrieval import SearchMode, SearchRequest, SearchResponse
from retrieval.dense.leg import DenseLeg
from retrieval.errors import SearchUnavailable
from retrieval.highlights.highlighter import Highlighter
from retrieval.lexical.analysis import Analyzer
from retrieval.lexical.leg import LexicalLeg
from retrieval.lexical.query import parse
from retrieval.search import hits
from retrieval.search.candidates import Candidates, collect
from retrieval.search.leg import Asked, Leg
from retrieval.search.legs import Legs
from retrieval.search.reranking import Reranking
from retrieval.search.scope import resolve
from retrieval.search.selection import Selected, Selection
from retrieval.search.snapshot import Snapshot

DEPTH = 100  # candidates of each leg


@dataclass(frozen=True)
class Answers:
    """The legs that a mode asks for; None for the one that it does not."""

    lexical: LexicalLeg | None
    dense: DenseLeg | None

    @property
    def legs(self) -> list[Leg]:
        return [leg for leg in (self.lexical, self.dense) if leg is not None]


@dataclass(frozen=True)
class Found:
    """What the legs found, fused, and the hits that were made of it."""

    answers: Answers
    candidates: Candidates
    selected: Selected


class Search:
    """Searches the workspace that it is told."""

    def __init__(self, legs: Legs, analyzer: Analyzer, reranking: Reranking | None = None) -> None:
        self.legs, self.analyzer, self.reranking = legs, analyzer, reranking
        self.highlighter = Highlighter(analyzer, legs.limits.highlight_seconds)

    async def __call__(self, workspace_id: UUID, request: SearchRequest) -> SearchResponse:
        """Raises SearchUnavailable when no leg that the mode asks for could answer."""
        start = time.perf_counter()
        mode = request.mode or SearchMode.hybrid
        limits = self.legs.limits
        seconds = limits.lexical_seconds + limits.dense_seconds
        try:
            async with self.legs.store.snapshot(workspace_id, seconds) as snapshot:
                asked = await self._asked(snapshot, request)
                found = await self._found(asked, request, await self._answers(mode, asked))
        except psycopg.Error as error:
            raise SearchUnavailable("the index did not answer in time") from error
        answers, candidates, selected = found.answers, found.candidates, found.selected
        rerank, spans = selected.rerank, {}
        if request.highlight:
            weights = self._weights(request, answers)
            spans = await self.highlighter([selected.chunks[chunk] for chunk in selected.order], weights, answers.dense)
        return SearchResponse(
            query=request.query,
            mode=mode,
            hits=[
                hits.hit(
                    workspace_id,
                    selected,
                    chunk,
                    spans.get(chunk, []),
                    hits.explanation(chunk, candidates, answers.lexical, answers.dense) if request.explain else None,
                )
                for chunk in selected.order
            ],
            good_match=candidates.has_good_match(selected.order),
            match=float(candidates.has_good_match(selected.order)),
            legs=[hits.report(leg) for leg in [*answers.legs, *([rerank] if rerank else [])]],
            reranked_by=rerank.method if rerank and rerank.found else None,
            milliseconds=round(1000 * (time.perf_counter() - start), 2),
        )

    async def _asked(self, snapshot: Snapshot, request: SearchRequest) -> Asked:
        reader, fields = snapshot.reader, parse(request.query, strict=request.strict).fields
        scope = await resolve(reader, request, fields, None, self.legs.limits.lexical_seconds)
        return Asked(snapshot, request.query, scope, await reader.space(), DEPTH, request.strict)

    async def _answers(self, mode: SearchMode, asked: Asked) -> Answers:
        if mode is SearchMode.lexical:
            answers = Answers(await self.legs.lexical(asked), None)
        elif mode is SearchMode.dense:
            answers = Answers(None, await self.legs.dense(asked))
        else:
            answers = Answers(*await asyncio.gather(self.legs.lexical(asked), self.legs.dense(asked)))
        if all(leg.error for leg in answers.legs):
            raise SearchUnavailable(legs={leg.name: leg.error for leg in answers.legs})
        return answers

    async def _found(self, asked: Asked, request: SearchRequest, answers: Answers) -> Found:
        reader = asked.snapshot.reader
        candidates = await collect(reader, request.mode or SearchMode.hybrid, answers.lexical, answers.dense)
        select = Selection(reader, request, asked.space, self.reranking)
        order = candidates.best(len(candidates.scores))
        return Found(answers, candidates, await select(order, candidates.scores))

    def _weights(self, request: SearchRequest, answers: Answers) -> Mapping[str, float]:
        """Of the query's terms; all alike where the lexical leg did not weigh them."""
        if answers.lexical and answers.lexical.query:
            return answers.lexical.query.weights
        return dict.fromkeys(self.analyzer.terms(request.query), 1.0)
