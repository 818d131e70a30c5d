"""Re-encodes an image, behind the walls of `service_kit.sandbox`. Imports little: it is loaded only for this."""

from __future__ import annotations

import io
import json
import warnings
from multiprocessing.connection import Connection
from typing import Any

from PIL import Image, ImageOps

from orchestrator.images.limits import MISLABELLED, NOT_READ, TOO_LARGE, ImageLimits
from orchestrator.walled.child import WorkRefused, limit_resources, send_content, send_refusal
from service_kit.sandbox.usage import OwnMemory

FORMATS = {"image/png": "PNG", "image/jpeg": "JPEG", "image/webp": "WEBP", "image/gif": "GIF"}
QUALITY = 90


def serve(messages: Connection, _: OwnMemory) -> None:
    """Receives the media type with the limits, then the file; sends the new image's data and its bytes in pieces, or
    why there is none."""
    try:
        request, file = json.loads(messages.recv_bytes()), messages.recv_bytes()
    except EOFError:
        return
    try:
        limits = ImageLimits(**request["limits"])
        limit_resources(limits.seconds, limits.memory_bytes, limits.output_bytes)
        result, written = rewritten(file, request["media_type"], limits)
    except WorkRefused as error:
        send_refusal(messages, error.reason, str(error))
    except MemoryError:
        send_refusal(messages, TOO_LARGE, "It takes more memory than an image may.")
    else:
        send_content(messages, written, **result)


def rewritten(file: bytes, media_type: str, limits: ImageLimits) -> tuple[dict[str, Any], bytes]:
    """Returns type and size, and the bytes of a new file with only the pixels. Raises WorkRefused."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            image = _decoded(file, media_type, limits)
        except (WorkRefused, MemoryError):
            raise
        except (Image.DecompressionBombError, Image.DecompressionBombWarning):
            raise WorkRefused(TOO_LARGE, "It unpacks to far more than it says.") from None
        except Exception as error:  # a broken file may raise anything in its decoder
            raise WorkRefused(NOT_READ, "It is broken, cut short, or no image of its type.") from error
    opaque = image.mode in ("RGB", "L")
    photograph = opaque and media_type in ("image/jpeg", "image/webp")
    written = io.BytesIO()
    if photograph:
        image.save(written, "JPEG", quality=QUALITY)
    else:
        image.save(written, "PNG")
    if written.tell() > limits.output_bytes:
        raise WorkRefused(TOO_LARGE, "It becomes too large.")
    kept = "image/jpeg" if photograph else "image/png"
    return {"media_type": kept, "width": image.width, "height": image.height}, written.getvalue()


def _decoded(file: bytes, media_type: str, limits: ImageLimits) -> Image.Image:
    """Returns the first frame, upright and small enough, in a new image without the file's metadata."""
    with Image.open(io.BytesIO(file), formats=list(FORMATS.values())) as opened:
        if opened.format != FORMATS[media_type]:
            raise WorkRefused(MISLABELLED, f"It says {media_type} and is {opened.format}.")
        if opened.width * opened.height > limits.pixels:
            raise WorkRefused(TOO_LARGE, f"It has {opened.width} x {opened.height} pixels, of {limits.pixels:,}.")
        opened.draft("RGB", (limits.side, limits.side))
        opened.load()
        clear = "A" in opened.mode or "transparency" in opened.info
        image = opened.convert("RGBA" if clear else "L" if opened.mode in ("1", "L") else "RGB")
        orientation = opened.getexif()
    image.thumbnail((limits.side, limits.side))
    image.info.clear()
    image.getexif().update(orientation)
    upright = ImageOps.exif_transpose(image)
    clean = Image.new(upright.mode, upright.size)
    clean.paste(upright)
    return clean
