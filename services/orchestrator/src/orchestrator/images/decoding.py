"""Decodes and re-encodes images in walled processes."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from contracts.images import IMAGE_TYPES, MOST_IMAGE_BYTES
from orchestrator.errors import ImageNotRead, ImagesBusy, ImageTooLarge, NotAnImage
from orchestrator.images.limits import MISLABELLED, TOO_LARGE, ImageLimits
from orchestrator.walled.work import Replies, WalledWork
from service_kit.sandbox import SandboxConfig, SandboxedProcess

CONFIG = SandboxConfig("orchestrator.images.child:serve", "orchestrator.images.child")
WAITING_FOR_EACH = 16  # images that may wait, per image that is being decoded
BEGINNINGS = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}


@dataclass(frozen=True)
class SentImage:
    """An image as it was sent; untrusted."""

    media_type: str
    data: bytes


@dataclass(frozen=True)
class KeptImage:
    """An image as it is kept: PNG or JPEG, only pixels."""

    media_type: str
    width: int
    height: int
    data: bytes


class ImageDecoder:
    """Runs one process per image."""

    def __init__(self, limits: ImageLimits) -> None:
        self.limits = limits
        self._work = WalledWork(CONFIG, limits.at_once, WAITING_FOR_EACH)

    async def aclose(self) -> None:
        """Ends decoding in progress, which fails for its callers."""
        await self._work.aclose()

    async def decode(self, sent: SentImage) -> KeptImage:
        """Raises NotAnImage, ImageTooLarge, ImageNotRead, ImagesBusy, Unavailable."""
        if sent.media_type not in IMAGE_TYPES:
            raise NotAnImage
        if len(sent.data) > MOST_IMAGE_BYTES:
            raise ImageTooLarge(f"An image has at most {MOST_IMAGE_BYTES >> 20} MiB")
        if self._work.is_full:
            raise ImagesBusy
        return await self._work.result(lambda process: self._read(process, sent))

    def _read(self, process: SandboxedProcess, sent: SentImage) -> KeptImage:
        replies = Replies(process, self.limits.seconds)
        try:
            process.send(json.dumps({"media_type": sent.media_type, "limits": asdict(self.limits)}).encode())
            process.send(sent.data)
            reply = replies.body()
            if "refused" in reply:
                raise _refusal(str(reply["refused"]), str(reply["message"])[:200])
            media_type, size = str(reply["media_type"]), int(reply["bytes"])
            width, height = int(reply["width"]), int(reply["height"])
            if not (0 < size <= self.limits.output_bytes and 0 < width <= self.limits.side >= height > 0):
                raise ValueError(size)
            written = replies.content(size)
            # The image may have taken control of the process.
            if not written.startswith(BEGINNINGS[media_type]):
                raise ValueError(media_type)
        except TimeoutError:
            raise ImageTooLarge(f"It was not decoded within {self.limits.seconds:g} s") from None
        except (EOFError, OSError):
            raise ImageTooLarge("Decoding it takes more memory or time than allowed") from None
        except (ValueError, TypeError, KeyError) as error:
            raise ImageNotRead("The decoder sent an invalid answer") from error
        return KeptImage(media_type, width, height, written)


def _refusal(reason: str, message: str) -> NotAnImage | ImageTooLarge | ImageNotRead:
    if reason == TOO_LARGE:
        return ImageTooLarge(message)
    return NotAnImage(message) if reason == MISLABELLED else ImageNotRead(message)
