"""Refinement of the graph by the deployment's chat model."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from attractor_client.http.transport import Transport
from contracts.graph_refinement import (
    DeletedResults,
    EstimateRequest,
    RefinementEstimate,
    RefinementSettings,
    RefinementSettingsUpdate,
    RefinementStatus,
)

PLACE = "/v1/graph/refinement"


class GraphRefinement:
    """`client.refinement`. Changes require an editor's key."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def estimate(self, document_ids: Sequence[UUID] | None = None) -> RefinementEstimate:
        """Estimates what refining would take now; nothing is spent."""
        request = EstimateRequest(document_ids=list(document_ids) if document_ids else None)
        return await self.transport.query("/v1/graph/estimates", request, RefinementEstimate)

    async def status(self) -> RefinementStatus:
        return await self.transport.get(PLACE, RefinementStatus)

    async def settings(self) -> RefinementSettings:
        return await self.transport.get(f"{PLACE}/settings", RefinementSettings)

    async def change(self, settings: RefinementSettings, change: RefinementSettingsUpdate) -> RefinementSettings:
        """Changes the fields set in `change`, even to None; raises StaleVersion if `settings` are not the newest."""
        headers = {"If-Match": f'"{settings.version}"'}
        return await self.transport.fetch(
            "PATCH", f"{PLACE}/settings", RefinementSettings, body=change, headers=headers, nulls=True
        )

    async def delete_results(self) -> DeletedResults:
        """Deletes everything that the model found, and turns refinement off."""
        return await self.transport.fetch("DELETE", f"{PLACE}/results", DeletedResults)
