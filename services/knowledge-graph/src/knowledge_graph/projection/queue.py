"""What Neo4j is yet to show, written in the transaction that changed it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from knowledge_graph.recording.changes import Changes
from knowledge_graph.store.postgres import QUERIES
from service_kit.postgres import Connection

WORKSPACE, ENTITY, RELATION, MENTIONS, DOCUMENT = "workspace", "entity", "relation", "mentions", "document"


async def queue(
    connection: Connection,
    workspace_id: UUID,
    changes: Changes,
    receipt: dict[str, Any] | None = None,
    *,
    projects: bool = True,
) -> None:
    """Neo4j is to show what changed; a `receipt` is confirmed once it does. Where nothing projects, only that the
    workspace changed is kept, for the day when something does."""
    if not projects:
        await connection.execute(
            "INSERT INTO projection_queue (workspace_id, kind, id) VALUES (%s, %s, '') ON CONFLICT DO NOTHING",
            (workspace_id, WORKSPACE),
        )
        return
    rows: list[tuple[str, str, str, Jsonb | None]] = [
        *((ENTITY, one, "", None) for one in sorted(changes.entities)),
        *((RELATION, *pair, None) for pair in sorted(changes.pairs)),
        *((MENTIONS, str(document), entity, None) for entity, document in sorted(changes.mentioned)),
        # Last: once it is shown, so is all that came with it.
        (DOCUMENT, str(changes.document_id), "", None if receipt is None else Jsonb(receipt)),
    ]
    kinds, ids, others, receipts = zip(*rows, strict=True)
    await connection.execute(
        QUERIES["queue_projection"],
        {
            "workspace_id": workspace_id,
            "kinds": list(kinds),
            "ids": list(ids),
            "others": list(others),
            "receipts": list(receipts),
        },
    )
