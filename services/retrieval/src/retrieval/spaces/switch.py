"""Switches the space that a workspace is searched in, in the caller's transaction."""

from __future__ import annotations

from collections.abc import Iterable

from contracts.embedding_spaces import SpaceStatus
from contracts.events import DocumentIndexed, EmbeddingSpaceActivated
from inference.embedders import SpaceKey
from retrieval.reading.state import raise_generation
from retrieval.spaces.rows import SpaceRow, SpaceRows, SpaceSql
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
    if not await rows.is_complete(to.key):
        return False
    late: list[DocumentIndexed] = []
    if before := await rows.active():
        values = {"model": before.model, "dims": before.dims}
        late = await rows.all(SpaceSql.incomplete_documents, DocumentIndexed, **values)
        await rows.change(before, SpaceStatus.ready)
    await rows.change(to, SpaceStatus.active)
    await raise_generation(rows.connection, rows.workspace_id)
    await publish_indexed(rows, [one.model_copy(update={"vectors": one.chunk_count}) for one in late], outbox)
    await _publish(rows, to.key, outbox)
    return True


async def publish_indexed(rows: SpaceRows, documents: Iterable[DocumentIndexed], outbox: Outbox) -> None:
    """Publishes that documents are indexed, and how many vectors they have."""
    about = [(document, str(document.document_id)) for document in documents]
    await outbox.write_all(rows.connection, rows.workspace_id, about)


async def _publish(rows: SpaceRows, space: SpaceKey, outbox: Outbox) -> None:
    event = EmbeddingSpaceActivated(model=space[0], dims=space[1])
    await outbox.write(rows.connection, rows.workspace_id, event, str(rows.workspace_id))
