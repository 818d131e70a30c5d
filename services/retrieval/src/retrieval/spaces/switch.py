"""Which space a workspace is searched in: the first one, and the change to another. In the caller's transaction."""

from __future__ import annotations

from contracts.embedding_spaces import SpaceStatus
from contracts.events import DocumentIndexed, EmbeddingSpaceActivated
from inference.embedders import SpaceKey
from retrieval.reading.state import raise_generation
from retrieval.spaces.rows import SpaceRow, SpaceRows
from service_kit.outbox import Outbox


async def ensure_active(rows: SpaceRows, default: SpaceKey, outbox: Outbox) -> SpaceRow:
    """The space that the workspace is searched in; a workspace that has none takes the default."""
    if (active := await rows.active()) is not None:
        return active
    if await rows.add(default, SpaceStatus.active):
        await _tell(rows, default, outbox)
    active = await rows.active()
    assert active is not None, "a workspace without an active space has no space at all"
    return active


async def switch(rows: SpaceRows, to: SpaceRow, outbox: Outbox) -> bool:
    """Searches the workspace in the space `to` from the commit on; the one before stays ready.

    The caller holds the workspace's lock. False, and nothing is changed, where a vector of the space is lacking yet.
    Documents that lacked vectors before are told of again: now they have them.
    """
    if await rows.missing(to.key):
        return False
    before = await rows.active()
    late = await rows.incomplete_documents(before.key) if before else []
    if before:
        await rows.change(before, SpaceStatus.ready)
    await rows.change(to, SpaceStatus.active)
    await raise_generation(rows.connection, rows.workspace_id)
    for document in late:
        done = DocumentIndexed(
            document_id=document.document_id,
            version=document.version,
            chunk_count=document.chunk_count,
            vectors=document.chunk_count,
        )
        await outbox.write(rows.connection, rows.workspace_id, done, str(document.document_id))
    await _tell(rows, to.key, outbox)
    return True


async def _tell(rows: SpaceRows, space: SpaceKey, outbox: Outbox) -> None:
    told = EmbeddingSpaceActivated(model=space[0], dims=space[1])
    await outbox.write(rows.connection, rows.workspace_id, told, str(rows.workspace_id))
