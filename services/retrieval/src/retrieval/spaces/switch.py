"""Switches the space that a workspace is searched in, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Iterable

from contracts.embedding_spaces import SpaceStatus
from contracts.events import DocumentIndexed, EmbeddingSpaceActivated
from inference.embedders import SpaceKey
from retrieval.reading.state import raise_generation
from retrieval.spaces.rows import DocumentCount, SpaceRow, SpaceRows
from service_kit.outbox import Outbox


async def ensure_active(rows: SpaceRows, default: SpaceKey, outbox: Outbox) -> SpaceRow:
    """Returns the active space; a workspace without one gets the default."""
    if (active := await rows.active()) is not None:
        return active
    if await rows.add(default, SpaceStatus.active):
        await _publish(rows, default, outbox)
    active = await rows.active()
    assert active is not None, "a workspace without an active space has no space at all"
    return active


async def switch(rows: SpaceRows, to: SpaceRow, outbox: Outbox) -> bool:
    """Makes `to` the space that the workspace is searched in, from the commit on; the previous one stays ready.

    The caller holds the workspace's lock. Returns False and changes nothing if the space lacks a vector. Documents that
    lacked vectors in the previous space are republished, because they have them now.
    """
    if await rows.missing(to.key):
        return False
    before = await rows.active()
    late = await rows.incomplete_documents(before.key) if before else []
    if before:
        await rows.change(before, SpaceStatus.ready)
    await rows.change(to, SpaceStatus.active)
    await raise_generation(rows.connection, rows.workspace_id)
    await publish_complete(rows, late, outbox)
    await _publish(rows, to.key, outbox)
    return True


async def publish_complete(rows: SpaceRows, documents: Iterable[DocumentCount], outbox: Outbox) -> None:
    """Publishes that the documents have all their vectors."""
    for document in documents:
        count = document.chunk_count
        done = DocumentIndexed(
            document_id=document.document_id, version=document.version, chunk_count=count, vectors=count
        )
        await outbox.write(rows.connection, rows.workspace_id, done, str(document.document_id))


async def _publish(rows: SpaceRows, space: SpaceKey, outbox: Outbox) -> None:
    event = EmbeddingSpaceActivated(model=space[0], dims=space[1])
    await outbox.write(rows.connection, rows.workspace_id, event, str(rows.workspace_id))
