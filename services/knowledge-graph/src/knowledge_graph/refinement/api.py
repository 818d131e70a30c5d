"""Routes of the refinement: parse, call, return."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Response

from contracts.base import ProblemBody
from contracts.graph_refinement import (
    DeletedResults,
    EstimateRequest,
    RefinementEstimate,
    RefinementSettings,
    RefinementSettingsUpdate,
    RefinementStatus,
)
from knowledge_graph.refinement.refinement import Refinement
from service_kit.auth import Editor, Viewer
from service_kit.request_headers import STALE, ExpectedVersion, tagged
from service_kit.routes import Responses, from_state

router = APIRouter(prefix="/v1/graph", tags=["knowledge-graph"])
REFUSED: Responses = {
    409: {"model": ProblemBody, "description": "The deployment has no chat model"},
    **STALE,
}


UsedRefinement = Annotated[Refinement, from_state("refinement")]


@router.post("/estimates", summary="Estimate the cost of refinement")
async def estimate(body: EstimateRequest, caller: Viewer, refining: UsedRefinement) -> RefinementEstimate:
    """Returns chunks, calls and tokens. Nothing is spent."""
    return await refining.estimate(caller.workspace_id, body.document_ids)


@router.get("/refinement", summary="Show the progress of refinement")
async def show_refinement(caller: Viewer, refining: UsedRefinement) -> RefinementStatus:
    """Returns the state, what was refined and spent, and the last error."""
    return await refining.status(caller.workspace_id)


@router.get("/refinement/settings", summary="Read the refinement settings")
async def get_refinement_settings(caller: Viewer, refining: UsedRefinement, response: Response) -> RefinementSettings:
    """Returns the settings; refinement is off by default. The `ETag` header is the version, for If-Match."""
    return tagged(await refining.settings(caller.workspace_id), response)


@router.patch("/refinement/settings", summary="Change the refinement settings", responses=REFUSED)
async def change_refinement_settings(
    body: RefinementSettingsUpdate,
    caller: Editor,
    refining: UsedRefinement,
    version: ExpectedVersion,
    response: Response,
) -> RefinementSettings:
    """Changes the fields that are given.

    While refinement is on, chunks without a result are sent to the configured chat model, including those of new
    documents, until the budget is spent; a larger budget, or turning it on again, continues. Texts that were already
    refined, even in another document, are not sent again. Turning it off lets calls in progress finish; results stay
    until they are deleted. With If-Match the change applies only if the settings still have that version.
    """
    return tagged(await refining.change(caller.workspace_id, body, version), response)


@router.delete("/refinement/results", status_code=202, summary="Delete what the model found")
async def delete_results(caller: Editor, refining: UsedRefinement) -> DeletedResults:
    """Deletes all results at once and turns refinement off. The documents are then graphed again without the results;
    `unapplied_documents` in the status counts the remaining ones."""
    return await refining.delete_results(caller.workspace_id)
