"""Searches in the scope of the request: a session, the workspace, or every workspace of the caller."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from contracts.gateway import Role
from contracts.retrieval import Facet, FacetCount, Hit, LegReport, SearchRequest, SearchResponse, SearchScope
from retrieval.errors import GlobalNeedsKey, ScopeNeedsSession, SearchUnavailable, TooManyWorkspaces
from retrieval.search.facets import MOST_VALUES
from retrieval.search.search import Search
from retrieval.search.sessions import SessionDocuments
from retrieval.search.turns import SearchTurns
from service_kit.auth import Principal
from service_kit.problems import InvalidRequest, Problem

MOST_WORKSPACES = 100
AT_ONCE = 4  # workspaces of one search


@dataclass(frozen=True)
class WorkspaceAnswer:
    """One workspace's response, or why there is none."""

    workspace_id: UUID
    response: SearchResponse | None
    error: str | None = None


class ScopedSearch:
    """Searches in the scope of the request. A scope that lacks what it needs is rejected, never widened."""

    def __init__(self, search: Search, sessions: SessionDocuments) -> None:
        self.search, self.sessions, self.turns = search, sessions, SearchTurns()

    async def __call__(self, caller: Principal, request: SearchRequest) -> SearchResponse:
        """Returns the best hits in the scope.

        Raises ScopeNeedsSession, UnknownSession, SessionsUnavailable, GlobalNeedsKey, TooManyWorkspaces, and what
        `Search` raises.
        """
        if request.scope is SearchScope.every:
            return await self._everywhere(caller, request)
        attached = None
        if request.scope is SearchScope.session:
            if request.session_id is None:
                raise ScopeNeedsSession
            attached = await self.sessions.documents(caller, request.session_id)
        async with self.turns.turn(caller.workspace_id):
            return await self.search(caller.workspace_id, request, caller=caller, attached=attached)

    async def _everywhere(self, caller: Principal, request: SearchRequest) -> SearchResponse:
        if caller.readable is None:
            raise GlobalNeedsKey
        start, places = time.perf_counter(), list(dict.fromkeys([caller.workspace_id, *caller.readable]))
        if len(places) > MOST_WORKSPACES:
            raise TooManyWorkspaces(f"a search of every workspace is for at most {MOST_WORKSPACES} of them")
        turn = asyncio.Semaphore(AT_ONCE)

        async def search_one(workspace_id: UUID) -> WorkspaceAnswer:
            viewer = replace(caller, workspace_id=workspace_id, role=Role.viewer)
            there = caller if workspace_id == caller.workspace_id else viewer
            async with turn:
                try:
                    async with self.turns.turn(caller.workspace_id):
                        return WorkspaceAnswer(workspace_id, await self.search(workspace_id, request, caller=there))
                except InvalidRequest:
                    raise  # the request is invalid in every workspace
                except Problem as problem:
                    return WorkspaceAnswer(workspace_id, None, problem.detail or problem.title)

        answers = await asyncio.gather(*map(search_one, places))
        found = [answer.response for answer in answers if answer.response is not None]
        if not found:
            raise SearchUnavailable(legs={f"workspace {answer.workspace_id}": answer.error for answer in answers})
        return merged(answers, found, request, 1000 * (time.perf_counter() - start))


def merged(
    answers: Sequence[WorkspaceAnswer], found: Sequence[SearchResponse], request: SearchRequest, milliseconds: float
) -> SearchResponse:
    """Merges hits by score, or in turn if not all were scored by the same rule, such as after a late reranker."""
    alike = len({response.reranked_by for response in found if response.hits}) <= 1
    ranked: list[tuple[int, Hit]] = [pair for response in found for pair in enumerate(response.hits)]
    ranked.sort(key=lambda pair: (0 if alike else pair[0], -pair[1].score))
    failed = [
        LegReport(leg=f"workspace {answer.workspace_id}", candidates=0, milliseconds=0.0, error=answer.error)
        for answer in answers
        if answer.response is None
    ]
    return found[0].model_copy(
        update={
            "hits": [hit for _, hit in ranked[: request.k]],
            "good_match": any(response.good_match for response in found),
            "match": max(response.match for response in found),
            "legs": [*_legs(found), *failed],
            "facets": _facets(request.facets, found),
            "cached": all(response.cached for response in found),
            "timings": None,
            "milliseconds": round(milliseconds, 2),
        }
    )


def _legs(found: Sequence[SearchResponse]) -> list[LegReport]:
    """Merges the reports by leg; each error comes with the number of workspaces that had it."""
    by_name: dict[str, list[LegReport]] = {}
    for response in found:
        for report in response.legs:
            by_name.setdefault(report.leg, []).append(report)
    return [
        LegReport(
            leg=name,
            candidates=sum(report.candidates for report in reports),
            milliseconds=max(report.milliseconds for report in reports),
            method=f"in {len(reports)} workspaces",
            error=_errors(report.error for report in reports),
        )
        for name, reports in by_name.items()
    ]


def _errors(errors: Iterable[str | None]) -> str | None:
    counted = Counter(error for error in errors if error)
    return "; ".join(f"{error} (workspaces: {count})" for error, count in counted.items()) or None


def _facets(facets: Sequence[Facet], found: Sequence[SearchResponse]) -> dict[Facet, list[FacetCount]]:
    summed: dict[Facet, list[FacetCount]] = {}
    for facet in facets:
        chunks, documents = Counter[str](), Counter[str]()
        for response in found:
            for one in response.facets.get(facet, []):
                chunks[one.value] += one.chunks
                documents[one.value] += one.documents
        counts = [FacetCount(value=value, chunks=chunks[value], documents=documents[value]) for value in documents]
        summed[facet] = sorted(counts, key=lambda one: (-one.documents, -one.chunks, one.value))[:MOST_VALUES]
    return summed
