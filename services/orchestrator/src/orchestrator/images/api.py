"""Routes of a session's images."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response, status

from contracts.base import Page, ProblemBody, Text
from contracts.images import IMAGE_TYPES, MOST_IMAGE_BYTES, ImageAttachment
from orchestrator.errors import ImageTooLarge, NotAnImage
from orchestrator.images.decoding import SentImage
from orchestrator.images.keeping import ImageKeeping
from orchestrator.images.repository import CallerImages
from service_kit.auth import Viewer
from service_kit.pagination import Cursor, Limit
from service_kit.routes import Responses, from_state

router = APIRouter(prefix="/v1/sessions/{session_id}/attachments", tags=["orchestrator"])
ATTACHMENT = "/{attachment_id}"
FILE = {"schema": {"type": "string", "format": "binary"}}
NOT_FOUND: Responses = {
    404: {"model": ProblemBody, "description": "The caller has no such session, or the session has no such image"}
}
AWAY: Responses = {503: {"model": ProblemBody, "description": "The object store is unavailable"}}
REFUSED: Responses = {
    409: {"model": ProblemBody, "description": "The session has 1,000 images"},
    413: {"model": ProblemBody, "description": "It is larger than 20 MiB, or decodes to too many pixels"},
    415: {
        "model": ProblemBody,
        "description": "It is not an image of the stated type; `detail` says what to do instead",
    },
    422: {"model": ProblemBody, "description": "The image is corrupt"},
}


UsedImages = Annotated[ImageKeeping, from_state("images")]
Name = Annotated[Text, Query(min_length=1, max_length=255, description="The file's name")]


@router.post(
    "",
    status_code=status.HTTP_201_CREATED,
    summary="Attach an image",
    responses={**NOT_FOUND, **REFUSED, **AWAY},
    openapi_extra={"requestBody": {"required": True, "content": dict.fromkeys(IMAGE_TYPES, FILE)}},
)
async def create_attachment(
    session_id: UUID, request: Request, caller: Viewer, images: UsedImages, name: Name = "image"
) -> ImageAttachment:
    """The body is the image: PNG, JPEG, WebP or GIF (its first frame), as the `Content-Type` says.

    It is decoded and re-encoded without metadata, at most 2,048 pixels on its longer side. A message shows it with
    `attachment_ids`; an image that no message shows is deleted after a day. Upload other files as documents.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in IMAGE_TYPES:
        raise NotAnImage
    return await images.attach(caller, session_id, name, SentImage(media_type, await _body(request)))


@router.get("", summary="List a session's images", responses=NOT_FOUND)
async def list_attachments(
    session_id: UUID, caller: Viewer, images: UsedImages, limit: Limit = 50, cursor: Cursor = None
) -> Page[ImageAttachment]:
    """Lists the oldest first."""
    async with images.database.workspace(caller.workspace_id) as connection:
        found = CallerImages(connection, caller)
        await found.must_own(session_id)
        return await found.page(session_id, limit, cursor)


@router.get(
    ATTACHMENT,
    summary="Read an image",
    response_class=Response,
    responses={
        200: {"content": {"image/png": FILE, "image/jpeg": FILE}, "description": "The image as stored"},
        **NOT_FOUND,
        **AWAY,
    },
)
async def get_attachment(session_id: UUID, attachment_id: UUID, caller: Viewer, images: UsedImages) -> Response:
    """Returns a PNG or JPEG file."""
    image = await images.find(caller, session_id, attachment_id)
    named = {"Content-Disposition": "inline", "Cache-Control": "private, max-age=3600"}
    return Response(image.data, media_type=image.media_type, headers=named)


@router.delete(
    ATTACHMENT,
    status_code=status.HTTP_204_NO_CONTENT,
    summary="Delete an image",
    responses={**NOT_FOUND, **AWAY},
)
async def delete_attachment(session_id: UUID, attachment_id: UUID, caller: Viewer, images: UsedImages) -> None:
    """Messages that show it stay, but models no longer see it."""
    await images.delete(caller, session_id, attachment_id)


async def _body(request: Request) -> bytes:
    """Returns the body; raises ImageTooLarge before reading more than an image may have."""
    read = bytearray()
    async for piece in request.stream():
        read += piece
        if len(read) > MOST_IMAGE_BYTES:
            raise ImageTooLarge(f"An image has at most {MOST_IMAGE_BYTES >> 20} MiB")
    return bytes(read)
