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
from retrieval.search import hits
from retrieval.search.candidates import Candidates, collect
from retrieval.search.leg import Asked, Leg
from retrieval.search.legs import Legs
from retrieval.search.reader import FoundChunk, IndexReader
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
    """`chunks` by number; `order` is that of the best ones."""

    answers: Answers
    candidates: Candidates
    chunks: dict[int, FoundChunk]
    order: list[int]


class Search:
    """Searches the workspace that it is told."""

    def __init__(self, legs: Legs, analyzer: Analyzer) -> None:
        self.legs, self.analyzer = legs, analyzer
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
                found = await self._found(snapshot.reader, request, await self._answers(mode, asked))
        except psycopg.Error as error:
            raise SearchUnavailable("the index did not answer in time") from error
        answers, candidates = found.answers, found.candidates
        spans = {}
        if request.highlight:
            weights = self._weights(request, answers)
            spans = await self.highlighter([found.chunks[chunk] for chunk in found.order], weights, answers.dense)
        return SearchResponse(
            query=request.query,
            mode=mode,
            hits=[
                hits.hit(
                    workspace_id,
                    found.chunks[chunk],
                    candidates.scores[chunk],
                    spans.get(chunk, []),
                    hits.explanation(chunk, candidates, answers.lexical, answers.dense) if request.explain else None,
                )
                for chunk in found.order
            ],
            good_match=candidates.has_good_match(found.order),
            match=float(candidates.has_good_match(found.order)),
            legs=[hits.report(leg) for leg in answers.legs],
            milliseconds=round(1000 * (time.perf_counter() - start), 2),
        )

    async def _asked(self, snapshot: Snapshot, request: SearchRequest) -> Asked:
        reader = snapshot.reader
        filters = (request.document_ids, request.media_types, request.tags)
        scope = None if filters == (None, None, None) else await reader.scope(*filters)
        return Asked(snapshot, request.query, scope, await reader.space(), DEPTH)

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

    async def _found(self, reader: IndexReader, request: SearchRequest, answers: Answers) -> Found:
        candidates = await collect(reader, request.mode or SearchMode.hybrid, answers.lexical, answers.dense)
        best = candidates.best(request.k)
        chunks = await reader.chunks(best)
        return Found(answers, candidates, chunks, best)

    def _weights(self, request: SearchRequest, answers: Answers) -> Mapping[str, float]:
        """Of the query's terms; all alike where the lexical leg did not weigh them."""
        if answers.lexical and answers.lexical.query:
            return answers.lexical.query.weights
        return dict.fromkeys(self.analyzer.terms(request.query), 1.0)
