"""The administrator's workspace, as announced by the gateway."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import LiteralString
from uuid import UUID

from contracts.events import Event, WorkspaceAdministered
from ingestion.sources.settings import Reach, SourceSettings
from service_kit.outbox import first_time
from service_kit.postgres import Connection, Database
from service_kit.repository import Repository, SystemRepository
from service_kit.statements import Statements
from service_kit.streams import Handler


class AdministratorSql(Statements, file="administrator.sql"):
    is_administrators: LiteralString
    forget_others: LiteralString
    choose: LiteralString


class AdministratorWorkspace(SystemRepository):
    async def choose(self, workspace_id: UUID, told_at: datetime) -> None:
        """Records the announced workspace, unless a later announcement is known."""
        await self.run(AdministratorSql.forget_others, chosen=workspace_id, told_at=told_at)
        await self.run(AdministratorSql.choose, chosen=workspace_id, told_at=told_at)


class Standing(Repository):
    async def is_administrators(self) -> bool:
        """Returns whether the transaction's workspace is the administrator's."""
        return bool(await self.value(AdministratorSql.is_administrators))


async def reach_of(connection: Connection, workspace_id: UUID, settings: SourceSettings) -> Reach:
    """Returns what the workspace's sources may reach. Call it at each use, so that changed settings take effect."""
    return settings.reach(workspace_id, await Standing(connection, workspace_id).is_administrators())


class AdministratorEvents:
    """Handles the announcement that the gateway makes at each start."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @property
    def handlers(self) -> Mapping[str, Handler]:
        return {WorkspaceAdministered.event_type: self.administered}

    async def administered(self, event: Event) -> None:
        async with self.database.system() as connection:
            if await first_time(connection, event):
                await AdministratorWorkspace(connection).choose(event.workspace_id, event.time)
