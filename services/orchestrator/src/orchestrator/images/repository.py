"""The rows of images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from contracts.base import Page
from contracts.images import ImageAttachment
from orchestrator.errors import ImageNotFound, SessionNotFound, TooManyImages
from orchestrator.images.decoding import KeptImage
from service_kit.pagination import decode_cursor, page
from service_kit.repository import CallerRepository, Repository, SystemRepository
from service_kit.statements import Statements

MOST_OF_SESSION = 1_000
UNUSED_HOURS = 24
EXPIRED_AT_ONCE = 500


class ImageSql(Statements, file="attachments.sql", columns=", ".join(ImageAttachment.model_fields)):
    add: str
    session: str
    is_mine: str
    bind: str
    find: str
    content_hash: str
    page: str
    show: str
    hide: str
    release: str
    of_session: str
    remaining: str
    delete: str
    expired: str


class CallerImages(CallerRepository):
    """The images of the caller's sessions; nobody else sees them."""

    async def add(self, image_id: UUID, name: str, image: KeptImage, content_hash: str) -> None:
        await self.run(
            ImageSql.add,
            id=image_id,
            name=name,
            media_type=image.media_type,
            file_size=len(image.data),
            width=image.width,
            height=image.height,
            content_hash=content_hash,
        )

    async def must_own(self, session_id: UUID) -> None:
        """Raises SessionNotFound."""
        if not await self.value(ImageSql.is_mine, session_id=session_id):
            raise SessionNotFound

    async def bind(self, session_id: UUID, ids: Sequence[UUID]) -> list[ImageAttachment]:
        """Adds images to a session. Raises SessionNotFound, TooManyImages."""
        count = await self.value(ImageSql.session, session_id=session_id)
        if count is None:
            raise SessionNotFound
        if int(count) + len(ids) > MOST_OF_SESSION:
            raise TooManyImages(f"A session has at most {MOST_OF_SESSION:,} images")
        return await self.all(ImageSql.bind, ImageAttachment, session_id=session_id, ids=list(ids))

    async def find(self, session_id: UUID, image_id: UUID) -> ImageAttachment:
        """Raises ImageNotFound."""
        found = await self.one(ImageSql.find, ImageAttachment, session_id=session_id, id=image_id)
        if found is None:
            raise ImageNotFound
        return found

    async def content_hash(self, session_id: UUID, image_id: UUID) -> str | None:
        found: str | None = await self.value(ImageSql.content_hash, session_id=session_id, id=image_id)
        return found

    async def page(self, session_id: UUID, limit: int, cursor: str | None) -> Page[ImageAttachment]:
        """Returns a session's images, oldest first."""
        at, after = decode_cursor(cursor)
        rows = await self.all(
            ImageSql.page, ImageAttachment, session_id=session_id, after_at=at, after_id=after, limit=limit + 1
        )
        return page(rows, limit, lambda image: (image.created_at, image.id))

    async def show(self, session_id: UUID, ids: Sequence[UUID]) -> None:
        """Records that a message shows images of the session. Raises ImageNotFound."""
        if ids and len(await self.values(ImageSql.show, session_id=session_id, ids=list(ids))) != len(set(ids)):
            raise ImageNotFound

    async def hide(self, session_id: UUID) -> None:
        """Records which images no message of the session shows any more."""
        await self.run(ImageSql.hide, session_id=session_id)

    async def release(self, session_id: UUID, image_id: UUID) -> None:
        """Raises ImageNotFound."""
        if await self.value(ImageSql.release, session_id=session_id, id=image_id) is None:
            raise ImageNotFound


class WorkspaceImages(Repository):
    """The images of a workspace that are being deleted."""

    async def of_session(self, session_id: UUID) -> list[UUID]:
        return await self.values(ImageSql.of_session, session_id=session_id)

    async def delete(self, ids: Sequence[UUID]) -> int:
        return await self.run(ImageSql.delete, ids=list(ids))

    async def remaining(self, ids: Sequence[UUID]) -> int:
        return int(await self.value(ImageSql.remaining, ids=list(ids)))


@dataclass(frozen=True)
class ExpiredImage:
    """An image that no message shows."""

    workspace_id: UUID
    id: UUID


class ExpiredImages(SystemRepository):
    """The images to delete, of all workspaces."""

    async def take(self) -> list[ExpiredImage]:
        """Returns some of them, which are no longer found from then on."""
        return await self.all(ImageSql.expired, ExpiredImage, hours=UNUSED_HOURS, limit=EXPIRED_AT_ONCE)
