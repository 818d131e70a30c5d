"""Images that messages show: they are stored for a session, and deleted with it."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from contracts.base import Resource

IMAGE_TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif")
MOST_IMAGE_BYTES = 20 * 2**20
MOST_IMAGES = 10  # of one message


class ImageAttachment(Resource):
    """An image as stored: without metadata, at most 2,048 pixels on its longer side; of animations, the first frame."""

    id: UUID
    session_id: UUID
    name: str
    media_type: str
    file_size: int
    width: int
    height: int
    created_at: datetime
