"""The routes about sessions for other services; not reachable from outside."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends

from contracts.orchestrator import DeletedSessions, SessionIds, SessionUsers
from contracts.registry import MEMORY
from orchestrator.sessions.deletion import DeletedSessionIds
from orchestrator.sessions.repository import WorkspaceSessions
from service_kit.auth import ServiceCaller, called_by
from service_kit.owners import SESSION_USERS_PATH, SESSIONS_PATH
from service_kit.routes import UsedDatabase

router = APIRouter(include_in_schema=False)
Asking = Annotated[ServiceCaller, Depends(called_by(MEMORY))]


@router.post(SESSIONS_PATH)
async def deleted_sessions(caller: Asking, body: SessionIds, database: UsedDatabase) -> DeletedSessions:
    async with database.workspace(caller.workspace_id) as connection:
        return DeletedSessions(deleted=await DeletedSessionIds(connection, caller.workspace_id).among(body.session_ids))


@router.post(SESSION_USERS_PATH)
async def session_users(caller: Asking, body: SessionIds, database: UsedDatabase) -> SessionUsers:
    """Names whom each session belongs to that may be remembered."""
    async with database.workspace(caller.workspace_id) as connection:
        return SessionUsers(users=await WorkspaceSessions(connection, caller.workspace_id).users(body.session_ids))
