"""The routes of the audit."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query
from fastapi.responses import StreamingResponse

from contracts.base import Page, Text
from contracts.gateway import AuditEntry, AuditResult, Role
from gateway.access.authenticator import Admitted
from gateway.api.routes import FORBIDDEN
from gateway.audit.entries import AuditEntries, AuditFilter
from gateway.errors import NeedsOwner
from service_kit.pagination import Cursor, Limit, decode_cursor, page
from service_kit.postgres import Database
from service_kit.routes import Responses, UsedDatabase

EXPORTED_AT_ONCE = 1_000
LINES: Responses = {
    200: {"description": "One entry per line", "content": {"application/x-ndjson": {"schema": {"type": "string"}}}}
}
router = APIRouter(prefix="/v1/audit", tags=["gateway"])


async def _filter(
    caller: Admitted,
    action: Annotated[
        Text | None, Query(max_length=100, description="An action, or its first part: `key` finds `key.create`")
    ] = None,
    result: Annotated[AuditResult | None, Query(description="How it ended")] = None,
    user_id: Annotated[UUID | None, Query(description="Id of the user who did it")] = None,
    target_id: Annotated[Text | None, Query(max_length=200, description="Id of the resource acted on")] = None,
    since: Annotated[datetime | None, Query(description="From this time on")] = None,
    until: Annotated[datetime | None, Query(description="Before this time")] = None,
    everywhere: Annotated[
        bool, Query(description="All workspaces and the deployment; requires an administrator")
    ] = False,
) -> AuditFilter:
    """Returns the filter that the caller asks for. Raises NeedsOwner and NeedsAdmin."""
    if caller.role is not Role.owner:
        raise NeedsOwner
    if everywhere:
        caller.must_be_admin()
    return AuditFilter(None if everywhere else caller.workspace.id, action, result, user_id, target_id, since, until)


Filter = Annotated[AuditFilter, Depends(_filter)]


@router.get("", summary="List who did what", responses=FORBIDDEN)
async def list_audit(
    database: UsedDatabase, wanted: Filter, limit: Limit = 50, cursor: Cursor = None
) -> Page[AuditEntry]:
    """Requires an owner; lists the newest first. Entries are kept for AUDIT_DAYS and cannot be changed."""
    at, before = decode_cursor(cursor)
    async with database.system() as connection:
        rows = await AuditEntries(connection).list(wanted, at, before, limit + 1)
    return page(rows, limit, lambda row: (row.at, row.id))


@router.get("/export", summary="Export who did what", response_class=StreamingResponse, responses=FORBIDDEN | LINES)
async def export_audit(database: UsedDatabase, wanted: Filter) -> StreamingResponse:
    """Streams the same entries as JSON Lines, all pages at once."""
    headers = {"content-disposition": 'attachment; filename="audit.jsonl"'}
    return StreamingResponse(_lines(database, wanted), media_type="application/x-ndjson", headers=headers)


async def _lines(database: Database, wanted: AuditFilter) -> AsyncIterator[str]:
    at, before = None, None
    while True:
        async with database.system() as connection:
            rows = await AuditEntries(connection).list(wanted, at, before, EXPORTED_AT_ONCE)
        yield "".join(f"{row.model_dump_json()}\n" for row in rows)
        if len(rows) < EXPORTED_AT_ONCE:
            return
        at, before = rows[-1].at, rows[-1].id
