"""Keeps images: rows in PostgreSQL, bytes in the object store. A row is written before and deleted after its bytes."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from itertools import groupby
from uuid import UUID, uuid4

from contracts.images import ImageAttachment
from inference.chat import ImagePart
from orchestrator.errors import ImageNotFound
from orchestrator.images.decoding import ImageDecoder, SentImage
from orchestrator.images.repository import CallerImages, ExpiredImages, WorkspaceImages
from service_kit.auth import Principal
from service_kit.objects import ObjectMissing, ObjectStore
from service_kit.postgres import Database
from service_kit.problems import Unavailable
from service_kit.workspace_purge import Erased

log = logging.getLogger(__name__)


def image_key(workspace_id: UUID, image_id: UUID | str) -> str:
    """Returns the object store's key of an image."""
    return f"{workspace_id}/attachments/{image_id}"


class ImageKeeping:
    """Stores, returns and deletes images."""

    def __init__(self, database: Database, objects: ObjectStore, decoder: ImageDecoder) -> None:
        self.database, self.objects, self.decoder = database, objects, decoder

    async def take(self, caller: Principal, name: str, sent: SentImage) -> UUID:
        """Keeps an image temporarily: it is deleted unless `CallerImages.bind` gives it to a session.

        Raises what ImageDecoder.decode does.
        """
        image, image_id = await self.decoder.decode(sent), uuid4()
        async with self.database.workspace(caller.workspace_id) as connection:
            await CallerImages(connection, caller).add(image_id, name, image, hashlib.sha256(sent.data).hexdigest())
        await self.objects.aput(image_key(caller.workspace_id, image_id), image.data, image.media_type)
        return image_id

    async def attach(self, caller: Principal, session_id: UUID, name: str, sent: SentImage) -> ImageAttachment:
        """Adds an image to a session. Raises SessionNotFound, TooManyImages, and what ImageDecoder.decode does."""
        async with self.database.workspace(caller.workspace_id) as connection:
            await CallerImages(connection, caller).must_own(session_id)
        image_id = await self.take(caller, name, sent)
        async with self.database.workspace(caller.workspace_id) as connection:
            (attached,) = await CallerImages(connection, caller).bind(session_id, [image_id])
        return attached

    async def find(self, caller: Principal, session_id: UUID, image_id: UUID) -> ImagePart:
        """Raises ImageNotFound, Unavailable."""
        async with self.database.workspace(caller.workspace_id) as connection:
            image = await CallerImages(connection, caller).find(session_id, image_id)
        try:
            return ImagePart(image.media_type, await self.objects.aget(image_key(caller.workspace_id, image_id)))
        except ObjectMissing:
            raise ImageNotFound from None

    async def content_hash(self, caller: Principal, session_id: UUID, image_id: UUID) -> str | None:
        """Returns the SHA-256 (hex) of the image as it was sent, None if that is not known."""
        async with self.database.workspace(caller.workspace_id) as connection:
            return await CallerImages(connection, caller).content_hash(session_id, image_id)

    async def delete(self, caller: Principal, session_id: UUID, image_id: UUID) -> None:
        """Deletes an image for everyone at once, its bytes a little later. Raises ImageNotFound, Unavailable."""
        async with self.database.workspace(caller.workspace_id) as connection:
            await CallerImages(connection, caller).release(session_id, image_id)
        await self._delete(caller.workspace_id, [image_id])

    async def erase(self, workspace_id: UUID, ids: Sequence[UUID]) -> Erased:
        """Deletes and counts images. Those that the object store does not delete now count as left, and go later."""
        if ids:
            try:
                await self._delete(workspace_id, ids)
            except Unavailable as error:
                log.warning("images not deleted yet", exc_info=error, extra={"images": len(ids)})
        async with self.database.workspace(workspace_id) as connection:
            left = await WorkspaceImages(connection, workspace_id).remaining(ids)
        return Erased({"attachments": len(ids) - left}, {"attachments": left})

    async def erase_workspace(self, workspace_id: UUID) -> Erased:
        """Deletes and counts the bytes of all images of a deleted workspace. Raises Unavailable."""
        prefix = image_key(workspace_id, "")
        found = await self.objects.akeys(prefix)
        await self.objects.adelete(found)
        left = await self.objects.akeys(prefix)
        return Erased({"images": len(found) - len(left)}, {"images": len(left)})

    async def erase_expired(self) -> None:
        """Deletes images that no message shows; failures are retried the next time."""
        async with self.database.system() as connection:
            expired = await ExpiredImages(connection).take()
        for workspace_id, images in groupby(
            sorted(expired, key=lambda one: one.workspace_id), lambda one: one.workspace_id
        ):
            await self.erase(workspace_id, [one.id for one in images])

    async def _delete(self, workspace_id: UUID, ids: Sequence[UUID]) -> None:
        await self.objects.adelete([image_key(workspace_id, one) for one in ids])
        async with self.database.workspace(workspace_id) as connection:
            await WorkspaceImages(connection, workspace_id).delete(ids)
