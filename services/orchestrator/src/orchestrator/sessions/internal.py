"""What other services ask before they erase something; not reachable from outside."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request

from contracts.orchestrator import DeletedSessions, SessionIds
from contracts.registry import MEMORY
from orchestrator.sessions.deletion import DeletedSessionIds
from service_kit.auth import ServiceCaller, called_by
from service_kit.owners import SESSIONS_PATH
from service_kit.postgres import Database

router = APIRouter(include_in_schema=False)
Asking = Annotated[ServiceCaller, Depends(called_by(MEMORY))]


@router.post(SESSIONS_PATH)
async def deleted_sessions(caller: Asking, body: SessionIds, request: Request) -> DeletedSessions:
    database: Database = request.app.state.database
    async with database.workspace(caller.workspace_id) as connection:
        return DeletedSessions(deleted=await DeletedSessionIds(connection, caller.workspace_id).among(body.session_ids))
