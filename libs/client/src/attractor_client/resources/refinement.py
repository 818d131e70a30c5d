"""Refinement of the graph by the deployment's chat model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from uuid import UUID

from attractor_client.http.pages import every
from attractor_client.http.transport import Transport, path
from contracts.base import Page
from contracts.graph_refinement import (
    EstimateRequest,
    FailedChunk,
    RefinementEstimate,
    RefinementRequest,
    RefinementRun,
    RefinementSettings,
    RefinementSettingsUpdate,
    RefinementStatus,
    RemovedResults,
    Replayed,
    ReplayRequest,
    ResumeRequest,
)

PLACE = "/v1/graph/refinement"


class GraphRefinement:
    """`client.refinement`. Everything that spends or changes takes an editor's key."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def estimate(self, document_ids: Sequence[UUID] | None = None) -> RefinementEstimate:
        """What a run would take now; nothing is spent."""
        request = EstimateRequest(document_ids=list(document_ids) if document_ids else None)
        return await self.transport.query("/v1/graph/estimates", request, RefinementEstimate)

    async def status(self) -> RefinementStatus:
        return await self.transport.get(PLACE, RefinementStatus)

    async def settings(self) -> RefinementSettings:
        return await self.transport.get(f"{PLACE}/settings", RefinementSettings)

    async def change(self, settings: RefinementSettings, change: RefinementSettingsUpdate) -> RefinementSettings:
        """What is set in `change`, also to None; raises StaleVersion when `settings` are not the newest."""
        headers = {"If-Match": f'"{settings.version}"'}
        answer = await self.transport.send("PATCH", f"{PLACE}/settings", body=change, headers=headers, nulls=True)
        return self.transport.parse(answer, RefinementSettings)

    async def start(self, request: RefinementRequest) -> RefinementRun:
        return await self.transport.create(f"{PLACE}/runs", request, RefinementRun)

    def runs(self) -> AsyncIterator[RefinementRun]:
        """Newest first."""
        return every(self.transport, f"{PLACE}/runs", Page[RefinementRun])

    async def run(self, run_id: UUID) -> RefinementRun:
        return await self.transport.get(path(f"{PLACE[1:]}/runs", run_id), RefinementRun)

    async def pause(self, run_id: UUID) -> RefinementRun:
        return await self._steer(run_id, "pause")

    async def cancel(self, run_id: UUID) -> RefinementRun:
        return await self._steer(run_id, "cancel")

    async def resume(self, run_id: UUID, budgets: ResumeRequest) -> RefinementRun:
        """Budgets are of the run as a whole, counted from its start."""
        place = path(f"{PLACE[1:]}/runs", run_id, "resume")
        return self.transport.parse(await self.transport.send("POST", place, body=budgets), RefinementRun)

    def failures(self) -> AsyncIterator[FailedChunk]:
        return every(self.transport, f"{PLACE}/failures", Page[FailedChunk])

    async def replay(self, chunk_ids: Sequence[str] | None = None) -> Replayed:
        """All failed passages, or these, are asked for again by the present run or the next."""
        request = ReplayRequest(chunk_ids=list(chunk_ids) if chunk_ids else None)
        return await self.transport.query(f"{PLACE}/failures/replay", request, Replayed)

    async def remove_results(self) -> RemovedResults:
        return self.transport.parse(await self.transport.send("DELETE", f"{PLACE}/results"), RemovedResults)

    async def _steer(self, run_id: UUID, verb: str) -> RefinementRun:
        place = path(f"{PLACE[1:]}/runs", run_id, verb)
        return self.transport.parse(await self.transport.send("POST", place), RefinementRun)
