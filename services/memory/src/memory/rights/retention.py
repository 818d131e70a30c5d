"""Forgets memories that are older than their workspace wants to keep."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime
from uuid import UUID

from memory.episodes.turn_events import TurnEvents
from memory.repository import Memories
from memory.rights.repository import RetentionRules, RightsRows
from memory.rights.world_mentions import forget_with_topics
from service_kit.postgres import Database
from service_kit.problems import WorkspaceGone
from service_kit.stream_groups import KEPT

log = logging.getLogger(__name__)
EVERY_SECONDS = 3600.0
AT_ONCE = 500


class Retention:
    """Applies each workspace's rule in small transactions; safe to run in several replicas."""

    def __init__(self, database: Database, turns: TurnEvents, every_seconds: float = EVERY_SECONDS) -> None:
        self.database, self.turns, self.every_seconds = database, turns, every_seconds

    async def run(self) -> None:
        """Applies the rules periodically, until cancelled."""
        while True:
            await self.apply()
            await asyncio.sleep(self.every_seconds)

    async def apply(self) -> int:
        """Forgets messages and notes, and returns how many; facts go with the last message that states them."""
        async with self.database.system() as connection:
            workspaces = await RetentionRules(connection).workspaces()
        return sum([await self._apply(workspace_id) for workspace_id in workspaces])

    async def _apply(self, workspace_id: UUID) -> int:
        total = 0
        try:
            while gone := await self._forget_some(workspace_id):
                total += gone
        except WorkspaceGone:  # its purge removes the rest
            return total
        if total:
            log.info("old memories deleted", extra={"workspace_id": str(workspace_id), "memories": total})
        return total

    async def _forget_some(self, workspace_id: UUID) -> int:
        async with self.database.workspace(workspace_id) as connection:
            memories = Memories(connection, workspace_id)
            await memories.lock()
            old = await RightsRows(connection, workspace_id).too_old(AT_ONCE)
            if not old:
                return 0
            count = await forget_with_topics(connection, workspace_id, old[0].user_id, [one.id for one in old])
            trimmed = datetime.now(UTC) - 2 * KEPT
            await self.turns.erase(workspace_id, [one.id for one in old if one.created_at > trimmed])
            return count
