"""The route of imports."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter

from contracts.memory import ImportRequest, ImportResponse
from memory.imports.importing import Importing
from service_kit.auth import Editor
from service_kit.routes import from_state

router = APIRouter(prefix="/v1/memories", tags=["memory"])


@router.post("/import", summary="Import conversations")
async def import_conversations(
    body: ImportRequest, caller: Editor, importing: Annotated[Importing, from_state("importing")]
) -> ImportResponse:
    """Stores messages as the caller's memories, and learns the facts that people state in them.

    Messages follow those of the same conversation that were imported before. What is already known is left as it is.
    """
    return await importing.take(caller.workspace_id, caller.user_id, body)
