"""Whether a workspace wants refinement, and its budgets."""

from __future__ import annotations

from uuid import UUID

from contracts.graph_refinement import RefinementSettings, RefinementSettingsUpdate
from knowledge_graph.refinement.chunks import QUERIES
from service_kit.postgres import Connection, Database
from service_kit.problems import PreconditionFailed

TURNED_OFF = "refinement was turned off"
UNTOUCHED = RefinementSettings(enabled=False, max_tokens=None, max_calls=None, version=0)


class RefinementSettingsStore:
    """Version 0 has never been changed."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def get(self, workspace_id: UUID) -> RefinementSettings:
        async with self.database.workspace(workspace_id) as connection:
            return await settings_of(connection, workspace_id)

    async def change(
        self, workspace_id: UUID, asked: RefinementSettingsUpdate, version: int | None
    ) -> RefinementSettings:
        """What is not set stays. Turning it off pauses the run. Raises PreconditionFailed."""
        async with self.database.workspace(workspace_id) as connection:
            key = f"refinement/{workspace_id}"
            await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (key,))
            present = await settings_of(connection, workspace_id)
            if version is not None and version != present.version:
                raise PreconditionFailed(f"the refinement settings have version {present.version} by now")
            changed = present.model_dump(exclude={"version"}) | asked.model_dump(exclude_unset=True)
            enabled = bool(changed["enabled"])
            values = {**changed, "enabled": enabled, "workspace_id": workspace_id}
            row = await (await connection.execute(QUERIES["put_settings"], values)).fetchone()
            assert row is not None, "the statement returns the row"
            if not enabled:
                await connection.execute(
                    QUERIES["set_state"],
                    {
                        "workspace_id": workspace_id,
                        "id": None,
                        "state": "paused",
                        "error": TURNED_OFF,
                        "present": ["queued", "running", "waiting"],
                    },
                )
        return RefinementSettings(enabled=row[0], max_tokens=row[1], max_calls=row[2], version=row[3])


async def settings_of(connection: Connection, workspace_id: UUID) -> RefinementSettings:
    """As they stand in the caller's transaction."""
    cursor = await connection.execute(
        "SELECT enabled, max_tokens, max_calls, version FROM refinement_settings WHERE workspace_id = %s",
        (workspace_id,),
    )
    row = await cursor.fetchone()
    if row is None:
        return UNTOUCHED
    return RefinementSettings(enabled=row[0], max_tokens=row[1], max_calls=row[2], version=row[3])
