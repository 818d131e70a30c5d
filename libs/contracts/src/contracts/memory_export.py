"""The lines of an export of memories."""

from __future__ import annotations

from uuid import UUID

from contracts.base import Resource
from contracts.memory import Memory
from contracts.world import World, WorldEvent


class ExportedMemoryLine(Resource):
    """A memory, a session's world, or an event of a world: the session's, or the workspace's without `session_id`."""

    memory: Memory | None = None
    world: World | None = None
    event: WorldEvent | None = None
    session_id: UUID | None = None
