"""The queue of users whose memories have to be embedded; each is leased to one process."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from service_kit.work import WorkTable

CHANNEL = "memory_embedding_work"
IDLE = "idle"


@dataclass(frozen=True)
class LeasedOwner:
    """A user whose memories this process may embed while it holds the lease."""

    workspace_id: UUID
    lease_token: UUID
    user_id: UUID
    attempts: int


# A claim names the configured model: users whose memories were last embedded by another model are due, too.
TABLE = WorkTable(
    name="embedding_work",
    row=LeasedOwner,
    channel=CHANNEL,
    key=("workspace_id", "user_id"),
    waiting="(work.state = 'queued' OR work.state = 'idle' AND work.model IS DISTINCT FROM %(model)s)",
)
