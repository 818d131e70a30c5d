"""The search: both legs at the same time, fused, the best with their sentences."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import psycopg

from contracts.retrieval import (
    Highlight,
    Hit,
    HitExplanation,
    LegReport,
    SearchMode,
    SearchRequest,
    SearchResponse,
)
from inference.errors import EmbeddingError
from retrieval import fusion, highlights
from retrieval.analysis import Analyzer
from retrieval.errors import SearchUnavailable
from retrieval.fusion import Features
from retrieval.legs import DenseLeg, Leg, Legs, LexicalLeg
from retrieval.search_store import FoundChunk, IndexReader, Scope, Scored
from retrieval.sentences import Span

DEPTH = 100  # candidates of each leg
LOOKED_AT_FOR_GOOD_MATCH = 3


@dataclass
class Candidates:
    """The union of what the legs found, ordered by `scores`; features and terms by chunk."""

    scores: dict[int, float]
    features: dict[int, Features] = field(default_factory=dict)
    matched: dict[int, list[str]] = field(default_factory=dict)
    cosines: dict[int, float] = field(default_factory=dict)

    def best(self, k: int) -> list[int]:
        return sorted(self.scores, key=lambda chunk: (-self.scores[chunk], chunk))[:k]


class Search:
    """Searches the workspace that it is told."""

    def __init__(self, legs: Legs, analyzer: Analyzer) -> None:
        self.legs, self.analyzer = legs, analyzer

    async def __call__(self, workspace_id: UUID, request: SearchRequest) -> SearchResponse:
        """Raises SearchUnavailable when no leg that the mode asks for could answer."""
        start = time.perf_counter()
        try:
            scope = await self._scope(workspace_id, request)
            lexical, dense = await self._run(workspace_id, request, scope)
            candidates, found = await self._fuse(workspace_id, request, lexical, dense)
        except (psycopg.Error, TimeoutError) as error:
            raise SearchUnavailable("the index did not answer in time") from error
        order = [chunk for chunk in candidates.best(request.k) if chunk in found]
        spans = await self._highlights(request, [found[chunk] for chunk in order], lexical, dense)
        hits = [
            _hit(
                found[chunk],
                candidates.scores[chunk],
                spans.get(chunk, []),
                _explanation(chunk, candidates, lexical, dense) if request.explain else None,
            )
            for chunk in order
        ]
        good = any(
            fusion.is_good_match(candidates.features[chunk], dense=dense is not None and dense.vector is not None)
            for chunk in order[:LOOKED_AT_FOR_GOOD_MATCH]
        )
        return SearchResponse(
            query=request.query,
            mode=request.mode,
            hits=hits,
            good_match=good,
            legs=[_report(leg) for leg in (lexical, dense) if leg is not None],
            milliseconds=round(1000 * (time.perf_counter() - start), 2),
        )

    async def _scope(self, workspace_id: UUID, request: SearchRequest) -> Scope | None:
        if request.document_ids is None and request.media_types is None:
            return None
        async with self.legs.store.reading(workspace_id, self.legs.limits.lexical_seconds) as reader:
            return await reader.scope(request.document_ids, request.media_types)

    async def _run(
        self, workspace_id: UUID, request: SearchRequest, scope: Scope | None
    ) -> tuple[LexicalLeg | None, DenseLeg | None]:
        depth = max(DEPTH, request.k)
        lexical: LexicalLeg | None = None
        dense: DenseLeg | None = None
        async with asyncio.TaskGroup() as group:
            if request.mode is not SearchMode.dense:
                words = group.create_task(self.legs.lexical(workspace_id, request.query, scope, depth))
            if request.mode is not SearchMode.lexical:
                meaning = group.create_task(self.legs.dense(workspace_id, request.query, scope, depth))
        if request.mode is not SearchMode.dense:
            lexical = words.result()
        if request.mode is not SearchMode.lexical:
            dense = meaning.result()
        asked = [leg for leg in (lexical, dense) if leg is not None]
        if all(leg.error for leg in asked):
            raise SearchUnavailable(legs={leg.name: leg.error for leg in asked})
        return lexical, dense

    async def _fuse(
        self, workspace_id: UUID, request: SearchRequest, lexical: LexicalLeg | None, dense: DenseLeg | None
    ) -> tuple[Candidates, dict[int, FoundChunk]]:
        found = [leg.found for leg in (lexical, dense) if leg is not None]
        union = sorted({one.chunk for scored in found for one in scored})
        if not union:
            return Candidates({}), {}
        async with self.legs.store.reading(workspace_id, self.legs.limits.lexical_seconds) as reader:
            candidates = await self._candidates(reader, union, lexical, dense)
            if request.mode is SearchMode.hybrid:
                candidates.scores = {chunk: fusion.absolute(candidates.features[chunk]) for chunk in union}
            elif request.mode is SearchMode.rrf:
                candidates.scores = fusion.reciprocal_ranks([[one.chunk for one in scored] for scored in found])
            else:
                candidates.scores = {one.chunk: one.score for scored in found for one in scored}
            return candidates, await reader.chunks(candidates.best(request.k))

    async def _candidates(
        self, reader: IndexReader, union: list[int], lexical: LexicalLeg | None, dense: DenseLeg | None
    ) -> Candidates:
        """The features of all candidates, each computed exactly, whichever leg found it."""
        query = lexical.query if lexical else None
        cosines: dict[int, float] = {one.chunk: one.score for one in dense.found} if dense else {}
        missing = [chunk for chunk in union if chunk not in cosines]
        if dense and dense.vector is not None and missing:
            cosines |= await reader.cosines_of(missing, dense.vector, self.legs.vectors.space)
        terms = await reader.terms_of(union, query.terms) if query else {}
        titles = await reader.titles_of(union) if query else {}
        candidates = Candidates({}, cosines=cosines)
        for chunk in union:
            has = terms.get(chunk, {})
            candidates.matched[chunk] = list(has)
            candidates.features[chunk] = Features(
                cosine=cosines.get(chunk, 0.0),
                bm25_share=query.share(query.score(has)) if query else 0.0,
                title_named=fusion.title_named(titles.get(chunk, []), query.weights) if query else 0.0,
                all_terms=float(bool(query and query.weights) and len(has) == len(query.weights)) if query else 0.0,
            )
        return candidates

    async def _highlights(
        self, request: SearchRequest, chunks: Sequence[FoundChunk], lexical: LexicalLeg | None, dense: DenseLeg | None
    ) -> dict[int, list[highlights.Scored]]:
        """By chunk; without a vector of the query, or where sentences come too late, terms alone decide."""
        if not request.highlight or not chunks:
            return {}
        weights = self._weights(request, lexical)
        by_hit = [
            highlights.sentences_of(rank, chunk.content, chunk.media_type, weights, self.analyzer)
            for rank, chunk in enumerate(chunks)
        ]
        cosines: Mapping[tuple[int, Span], float] = {}
        if dense and dense.vector is not None:
            chosen = highlights.to_embed(by_hit)
            try:
                async with asyncio.timeout(self.legs.limits.highlight_seconds):
                    vectors = await self.legs.vectors.of_texts([one.text for one in chosen])
            except (EmbeddingError, TimeoutError):
                dense.method = f"{dense.method}; the sentences' meaning was not to be had in time"
            else:
                values = (vectors @ dense.vector).tolist()
                cosines = {(one.hit, one.span): value for one, value in zip(chosen, values, strict=True)}
        return {chunk.number: highlights.best(by_hit[rank], cosines) for rank, chunk in enumerate(chunks)}

    def _weights(self, request: SearchRequest, lexical: LexicalLeg | None) -> Mapping[str, float]:
        """Of the query's terms; all alike where the lexical leg did not weigh them."""
        if lexical and lexical.query:
            return lexical.query.weights
        return dict.fromkeys(self.analyzer.terms(request.query), 1.0)


def _rank(leg: Leg | None, chunk: int) -> tuple[int | None, Scored | None]:
    if leg is not None:
        for rank, one in enumerate(leg.found, 1):
            if one.chunk == chunk:
                return rank, one
    return None, None


def _explanation(
    chunk: int, candidates: Candidates, lexical: LexicalLeg | None, dense: DenseLeg | None
) -> HitExplanation:
    lexical_rank, by_terms = _rank(lexical, chunk)
    dense_rank, _ = _rank(dense, chunk)
    share = candidates.features[chunk].bm25_share
    mass = lexical.query.mass if lexical and lexical.query else 0.0
    return HitExplanation(
        lexical_rank=lexical_rank,
        lexical_score=by_terms.score if by_terms else share * mass or None,
        dense_rank=dense_rank,
        dense_score=candidates.cosines.get(chunk),
        features=candidates.features[chunk].as_dict(),
        matched_terms=candidates.matched[chunk],
    )


def _report(leg: Leg) -> LegReport:
    return LegReport(
        leg=leg.name,
        candidates=len(leg.found),
        milliseconds=round(leg.milliseconds, 2),
        method=leg.method,
        error=leg.error,
    )


def _hit(
    chunk: FoundChunk, score: float, spans: Sequence[highlights.Scored], explanation: HitExplanation | None
) -> Hit:
    box = chunk.box
    return Hit(
        chunk_id=chunk.chunk_id,
        document_id=chunk.document_id,
        document_name=chunk.document_name,
        document_title=chunk.document_title,
        media_type=chunk.media_type,
        score=score,
        content=chunk.content,
        section_title=chunk.section_title,
        heading_path=chunk.heading_path,
        chunk_index=chunk.chunk_index,
        page=chunk.page,
        page_end=chunk.page_end,
        box=(box[0], box[1], box[2], box[3]) if box else None,
        line_start=chunk.line_start,
        line_end=chunk.line_end,
        highlights=[Highlight(start=one.start, end=one.end, score=one.score) for one in spans],
        explanation=explanation,
    )
