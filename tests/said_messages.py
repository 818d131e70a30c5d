"""Messages as memory recalls them, for tests without a database."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import uuid4

from contracts.memory import MemoryKind, MemoryScope, RecalledMemory, Said


def said_at(at: datetime, content: str, role: str = "user", **more: Any) -> RecalledMemory:
    """Returns a message said at this time, in a session and by a user of its own."""
    return RecalledMemory(
        id=uuid4(),
        kind=MemoryKind.episode,
        content=content,
        scope=MemoryScope.user,
        session_id=uuid4(),
        document_ids=[],
        created_by=uuid4(),
        created_at=at,
        said_at=at,
        said=Said(position=0, speaker="", role=role, time_zone="UTC"),
        fact=None,
        pinned=False,
        score=1.0,
        **more,
    )
