"""Runs as users see and steer them."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from psycopg.errors import UniqueViolation
from psycopg.rows import class_row

from contracts.graph_refinement import RefinementRequest, ResumeRequest
from knowledge_graph.refinement.chunks import QUERIES
from knowledge_graph.refinement.errors import BudgetNeeded, RefinementOff, RunActive, RunNotFound, RunNotInState
from knowledge_graph.refinement.records import RunRow
from knowledge_graph.refinement.settings_store import settings_of
from service_kit.auth import Principal
from service_kit.postgres import Connection, Database

Place = tuple[datetime, UUID]


class RunStore:
    """Of any workspace; raises RunNotFound for what is not of the caller's."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def start(self, caller: Principal, asked: RefinementRequest, model: str) -> RunRow:
        """Raises RefinementOff, BudgetNeeded, RunActive."""
        async with self.database.workspace(caller.workspace_id) as connection:
            settings = await settings_of(connection, caller.workspace_id)
            if not settings.enabled:
                raise RefinementOff
            named = asked.max_tokens is not None or asked.max_calls is not None
            max_tokens = asked.max_tokens if named else settings.max_tokens
            max_calls = asked.max_calls if named else settings.max_calls
            if max_tokens is None and max_calls is None:
                raise BudgetNeeded
            values = {
                "workspace_id": caller.workspace_id,
                "follow": asked.follow,
                "document_ids": asked.document_ids,
                "model": model,
                "max_tokens": max_tokens,
                "max_calls": max_calls,
                "created_by": caller.user_id,
            }
            row = await (await connection.execute(QUERIES["insert_run"], values)).fetchone()
            if row is None:
                raise RunActive
            return await _run(connection, caller.workspace_id, row[0])

    async def get(self, workspace_id: UUID, run_id: UUID) -> RunRow:
        async with self.database.workspace(workspace_id) as connection:
            return await _run(connection, workspace_id, run_id)

    async def newest(self, workspace_id: UUID, before: Place | None, limit: int) -> list[RunRow]:
        """Newest first."""
        async with self.database.workspace(workspace_id) as connection:
            return await _runs(connection, workspace_id, None, before, limit)

    async def pause(self, workspace_id: UUID, run_id: UUID) -> RunRow:
        """Calls under way are finished. Raises RunNotInState."""
        return await self._set(workspace_id, run_id, "paused", ["queued", "running", "waiting"])

    async def cancel(self, workspace_id: UUID, run_id: UUID) -> RunRow:
        """What was found stays. Raises RunNotInState."""
        present = ["queued", "running", "waiting", "paused", "budget_exhausted", "failed"]
        return await self._set(workspace_id, run_id, "cancelled", present)

    async def resume(self, workspace_id: UUID, run_id: UUID, asked: ResumeRequest, model: str) -> RunRow:
        """Raises RunNotInState, RefinementOff, RunActive."""
        async with self.database.workspace(workspace_id) as connection:
            if not (await settings_of(connection, workspace_id)).enabled:
                raise RefinementOff
            await _run(connection, workspace_id, run_id)
            values = {"workspace_id": workspace_id, "id": run_id, "model": model, **asked.model_dump()}
            try:
                changed = await connection.execute(QUERIES["resume_run"], values)
            except UniqueViolation as error:
                raise RunActive from error
            if not changed.rowcount:
                raise RunNotInState("only a paused run, one without budget or a failed one can be resumed")
            return await _run(connection, workspace_id, run_id)

    async def _set(self, workspace_id: UUID, run_id: UUID, state: str, present: list[str]) -> RunRow:
        async with self.database.workspace(workspace_id) as connection:
            values = {"workspace_id": workspace_id, "id": run_id, "state": state, "present": present, "error": None}
            changed = await connection.execute(QUERIES["set_state"], values)
            if changed.rowcount:
                await connection.execute(QUERIES["queue_unapplied"], {"workspace_id": workspace_id})
            run = await _run(connection, workspace_id, run_id)
            if not changed.rowcount and run.state != state:
                raise RunNotInState(f"the run is {run.state}")
            return run


async def _run(connection: Connection, workspace_id: UUID, run_id: UUID) -> RunRow:
    found = await _runs(connection, workspace_id, run_id, None, 1)
    if not found:
        raise RunNotFound
    return found[0]


async def _runs(
    connection: Connection, workspace_id: UUID, run_id: UUID | None, before: Place | None, limit: int
) -> list[RunRow]:
    values = {
        "workspace_id": workspace_id,
        "id": run_id,
        "before_time": before[0] if before else None,
        "before_id": before[1] if before else None,
        "limit": limit,
    }
    async with connection.cursor(row_factory=class_row(RunRow)) as cursor:
        await cursor.execute(QUERIES["list_runs"], values)
        return await cursor.fetchall()
