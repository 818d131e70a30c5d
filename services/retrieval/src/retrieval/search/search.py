"""The search: both legs at the same time, fused, the best with their sentences."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
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
    """`chunks` by number; `order` is that of the best ones. `vanished`: a candidate was replaced during the search."""

    answers: Answers
    candidates: Candidates
    chunks: dict[int, FoundChunk]
    order: list[int]
    vanished: bool


class Search:
    """Searches the workspace that it is told."""

    def __init__(self, legs: Legs, analyzer: Analyzer) -> None:
        self.legs, self.analyzer = legs, analyzer
        self.highlighter = Highlighter(analyzer, legs.limits.highlight_seconds)

    async def __call__(self, workspace_id: UUID, request: SearchRequest) -> SearchResponse:
        """Raises SearchUnavailable when no leg that the mode asks for could answer."""
        start = time.perf_counter()
        mode = request.mode or SearchMode.hybrid
        try:
            found = await self._at_once(workspace_id, request)
            if found.vanished:
                found = await self._in_one_state(workspace_id, request)
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

    async def _at_once(self, workspace_id: UUID, request: SearchRequest) -> Found:
        """Both legs at the same time, each in a transaction of its own."""
        store, seconds = self.legs.store, self.legs.limits.lexical_seconds
        async with store.reading(workspace_id, seconds) as reader:
            asked = await self._asked(reader, request)
        answers = await self._answers(request.mode or SearchMode.hybrid, asked)
        async with store.reading(workspace_id, seconds) as reader:
            return await self._found(reader, request, answers)

    async def _in_one_state(self, workspace_id: UUID, request: SearchRequest) -> Found:
        """One leg after the other in one transaction: no document is replaced from its first statement on."""
        seconds = self.legs.limits.lexical_seconds + self.legs.limits.dense_seconds
        async with self.legs.store.snapshot(workspace_id, seconds) as reader:
            asked = replace(await self._asked(reader, request), snapshot=reader)
            answers = await self._answers(request.mode or SearchMode.hybrid, asked)
            return await self._found(reader, request, answers)

    async def _asked(self, reader: IndexReader, request: SearchRequest) -> Asked:
        filters = (request.document_ids, request.media_types, request.tags)
        scope = None if filters == (None, None, None) else await reader.scope(*filters)
        return Asked(reader.workspace_id, request.query, scope, await reader.space(), DEPTH)

    async def _answers(self, mode: SearchMode, asked: Asked) -> Answers:
        if mode is SearchMode.lexical:
            answers = Answers(await self.legs.lexical(asked), None)
        elif mode is SearchMode.dense:
            answers = Answers(None, await self.legs.dense(asked))
        elif asked.snapshot is not None:
            answers = Answers(await self.legs.lexical(asked), await self.legs.dense(asked))
        else:
            answers = Answers(*await asyncio.gather(self.legs.lexical(asked), self.legs.dense(asked)))
        if all(leg.error for leg in answers.legs):
            raise SearchUnavailable(legs={leg.name: leg.error for leg in answers.legs})
        return answers

    async def _found(self, reader: IndexReader, request: SearchRequest, answers: Answers) -> Found:
        candidates = await collect(reader, request.mode or SearchMode.hybrid, answers.lexical, answers.dense)
        best = candidates.best(request.k)
        chunks = await reader.chunks(best)
        order = [chunk for chunk in best if chunk in chunks]
        return Found(answers, candidates, chunks, order, candidates.vanished or len(order) < len(best))

    def _weights(self, request: SearchRequest, answers: Answers) -> Mapping[str, float]:
        """Of the query's terms; all alike where the lexical leg did not weigh them."""
        if answers.lexical and answers.lexical.query:
            return answers.lexical.query.weights
        return dict.fromkeys(self.analyzer.terms(request.query), 1.0)
