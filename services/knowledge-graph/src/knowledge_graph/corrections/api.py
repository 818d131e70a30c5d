"""Routes of corrections: parse, call, return."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter

from contracts.base import Page, ProblemBody
from contracts.graph_corrections import Correction, CorrectionRequest
from knowledge_graph.corrections.corrections import GraphCorrections, StoredCorrection
from service_kit.auth import Editor, Viewer
from service_kit.pagination import Cursor, Limit, decode_cursor, page
from service_kit.routes import from_state

router = APIRouter(prefix="/v1/graph/corrections", tags=["knowledge-graph"])


UsedCorrections = Annotated[GraphCorrections, from_state("graph_corrections")]


@router.post("", status_code=201, summary="Correct the graph")
async def correct(body: CorrectionRequest, caller: Editor, corrections: UsedCorrections) -> Correction:
    """Confirms, rejects or adds a fact, merges or splits names, or sets an entity's type, with author and reason.

    A correction counts as evidence of its own, outweighs what documents state, and survives their re-ingestion.
    """
    return _shown(await corrections.correct(caller, body))


@router.get("", summary="List corrections")
async def list_corrections(
    caller: Viewer, corrections: UsedCorrections, limit: Limit = 50, cursor: Cursor = None
) -> Page[Correction]:
    """Lists the corrections in force, newest first."""
    created_at, last = decode_cursor(cursor, datetime, UUID)
    after = None if created_at is None or last is None else (created_at, last)
    found = await corrections.page(caller.workspace_id, after, limit + 1)
    return page(found, limit, lambda one: (one.created_at, one.id), _shown)


@router.get("/{correction_id}", summary="Show a correction", responses={404: {"model": ProblemBody}})
async def show_correction(correction_id: UUID, caller: Viewer, corrections: UsedCorrections) -> Correction:
    return _shown(await corrections.one(caller.workspace_id, correction_id))


@router.delete(
    "/{correction_id}", summary="Undo a correction", status_code=204, responses={404: {"model": ProblemBody}}
)
async def undo_correction(correction_id: UUID, caller: Editor, corrections: UsedCorrections) -> None:
    """Undoes a correction: the graph again shows what the documents and the other corrections state."""
    await corrections.undo(caller.workspace_id, correction_id)


def _shown(stored: StoredCorrection) -> Correction:
    return Correction.model_validate(asdict(stored))
