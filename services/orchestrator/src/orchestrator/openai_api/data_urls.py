"""Reads images that clients of the OpenAI API send as data URLs. Does no IO."""

from __future__ import annotations

import base64
import binascii

from contracts.images import IMAGE_TYPES, MOST_IMAGE_BYTES
from orchestrator.images.decoding import SentImage
from orchestrator.openai_api.errors import Unsupported

SCHEME = "data:"


def image_of(url: object, param: str) -> SentImage:
    """Returns the image of `image_url`, a data URL or an object with one. Raises Unsupported, which names `param`."""
    given = url.get("url") if isinstance(url, dict) else url
    if not isinstance(given, str) or given[: len(SCHEME)].lower() != SCHEME:
        raise Unsupported(param, "images are sent as data: URLs; nothing is fetched from other addresses")
    head, _, data = given[len(SCHEME) :].partition(",")
    media_type, _, coding = head.partition(";")
    media_type = media_type.strip().lower()
    if media_type not in IMAGE_TYPES or coding.strip().lower() != "base64":
        raise Unsupported(param, "an image is PNG, JPEG, WebP or GIF in base64")
    if len(data) > MOST_IMAGE_BYTES * 4 // 3 + 4:
        raise Unsupported(param, f"an image has at most {MOST_IMAGE_BYTES >> 20} MiB")
    try:
        return SentImage(media_type, base64.b64decode(data, validate=True))
    except (binascii.Error, ValueError):
        raise Unsupported(param, "its base64 is broken") from None
